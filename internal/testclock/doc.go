// Package testclock is a clock that a test owns: it runs, stands still, or is set forward.
//
// A development server takes it in place of the machine's clock as the source of cluster time, which everything that waits
// follows: expiry, delays, retries, schedules, sleeps, rate windows, daily limits. Time limits of connections and of Raft stay
// with the machine's clock: they are about this process and not about the data.
package testclock
