// Package cputime reads the processor time of a thread: what a stretch of code has cost, without what it has waited for the
// processor, which on a busy machine is most of the time that passes.
package cputime
