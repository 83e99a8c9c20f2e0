import { useMutation, useQueryClient } from "@tanstack/react-query";

/** Something that a person changes in the project, or of the platform: what is shown of it is read again, and `done` learns
 *  the answer. */
export function useChange<Answer, Input = void>(
  change: (input: Input) => Promise<Answer>,
  done?: (answer: Answer, input: Input) => void,
  of: "project" | "operator" = "project",
) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (answer, input) => done?.(answer, input),
    onSettled: () => cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === of }),
  });
}
