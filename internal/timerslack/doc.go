// Package timerslack lets the kernel be late with the timers of this process, which saves a fifth of a cluster's processor
// time under writes.
//
// Go's monitor thread (sysmon) sleeps for 20 µs between two looks at the processors while any of them is in use, and takes a
// processor away from a thread that is in a system call at the second look. A sync of the log takes 100 µs or more, so nearly
// each cost some wakings of the monitor, a processor taken away, and a thread woken to use it. The kernel adds a thread's
// timer slack to its sleeps, by default 50 µs. With more, the monitor looks less often, and most syncs end before their
// processor is taken away. A sync that takes long still loses it, only that much later.
//
// The monitor's slack is that of the thread that starts it, before any code of the product runs, and another thread may not change it
// without privileges. It is kept over execve. So the process sets it and executes its own program once more.
package timerslack
