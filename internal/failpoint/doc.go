// Package failpoint lets a fault test stop, delay or crash a node at a named place in the code. Without the build tag
// "failpoints" every call is an empty function that the compiler removes, and nothing reads the environment.
//
// With the tag, points are armed by specifications of the form
//
//	name=action;name=action
//
// where an action is off, panic, exit or sleep(DURATION), optionally with a budget in front: 2*sleep(100ms) fires for the first
// two evaluations only. wall-clock=offset(DURATION) has the process believe that it is so much later, or earlier, than the
// machine's wall clock says; monotonic time is not affected. The variable TRIREME_FAILPOINTS holds the specification at start;
// TRIREME_FAILPOINTS_FILE names a file that holds one and is read again whenever it changes, so that a harness can arm a point in
// a running node.
package failpoint
