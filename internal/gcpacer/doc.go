// Package gcpacer sets the percent of Go's collector (GOGC) from what a collection costs and
// how often one is needed, instead of a fixed figure.
//
// A fixed percent is wrong for a database. With 400, a node whose data take 1 GB holds up to 5 GB, also when nothing has been
// written for hours; with 100, a small node under full load collects twenty times a second. What a collection costs follows the
// live heap L and the speed s of marking it, which depends on how many objects and pointers it has; how often one is needed
// follows the rate of allocation g and the room R above the live heap. The processor time that collections take, g/R times L/s,
// and the memory that garbage takes, R, are both small where R is in proportion to the square root of L times g / s. That is the
// rule of MemBalancer (Kirisame, Shenoy, Panchekha: "Optimal heap limits for reducing browser memory use", OOPSLA 2022); percent
// is the rule, with its constant measured in docs/design/memory.md.
//
// A Pacer reads the runtime's metrics once a second, the processor time of collections among them. It raises the percent at once,
// because load that has come wants room now, and lowers it step by step, so that a pause of a few seconds does not cost
// collections. Go's memory limit (GOMEMLIMIT) still wins over the percent as the heap comes near to it.
//
// One Pacer runs in a process, started by the command that serves a node.
package gcpacer
