import { useMutation, useQueryClient } from "@tanstack/react-query";

/** Something that a person changes in the project, of the platform, or of a billing account. What is shown of it is read again first, then `done`
 *  learns the answer: a page that says that a server reboots no longer offers to reboot it. */
export function useChange<Answer, Input = void>(
  change: (input: Input) => Promise<Answer>,
  done?: (answer: Answer, input: Input) => void,
  of: "project" | "operator" | "account" = "project",
) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (input: Input) => {
      try {
        return await change(input);
      } finally {
        await cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === of });
      }
    },
    onSuccess: (answer, input) => done?.(answer, input),
  });
}
