// Command accept performs one acceptance run in full length:
//
//	accept -run leader-kill
//
// Without -run it lists the runs. It prints figures and ends with PASS or FAIL, exit code
// 0 or 1. Finished rounds are kept under .accept/, so that an interrupted run resumes
// where it stopped, as long as the code is the same.
package main
