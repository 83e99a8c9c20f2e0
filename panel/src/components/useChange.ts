import { useMutation, useQueryClient } from "@tanstack/react-query";

/** Something that a person changes in the project: what is shown of it is read again, and `done` learns the answer. */
export function useChange<Answer, Input = void>(change: (input: Input) => Promise<Answer>, done?: (answer: Answer, input: Input) => void) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (answer, input) => done?.(answer, input),
    onSettled: () => cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === "project" }),
  });
}
