// Command logtrial damages log stores and reports what they answer.
//
// It writes with a child process that reports every operation before and after, damages
// the node (a flipped bit, a cut file, kill -9, a failing system call, a full disk, a
// power cut), opens it again and compares all of it with what was acknowledged. Each
// experiment prints one line: "n trials, 0 silent, 0 bad". Silent is wrong content without
// an error; bad is that, and every other outcome that the experiment does not allow, such
// as a refusal after a mere crash. The exit code is 1 when anything was bad.
package main
