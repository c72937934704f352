package lua

import "strconv"

// Budget holds the steps and bytes that a script may still use. It is spent by counting,
// never by a clock, so every node stops a script at the same place.
type Budget struct {
	// Steps are nodes of the program evaluated, with what library functions do counted
	// in.
	Steps int64
	// Bytes are bytes allocated, whether or not they are still in use.
	Bytes int64
	// Limit is the number of steps at first, Setting the name of the setting that sets it; the
	// error of a stopped script names both. It names neither if Setting is empty.
	Limit   int64
	Setting string
	// Interrupted, if set, reports whether the script was killed. Only what reads may be
	// ended so: it is asked now and then, whenever Steps are used up and some of Reserve follow.
	Interrupted func() bool
	Reserve     int64
}

// interruptSteps is the number of steps between two calls of Interrupted.
const interruptSteps = 100_000

// Interruptible has the script end when interrupted says so.
func (b *Budget) Interruptible(interrupted func() bool) {
	b.Interrupted = interrupted
	b.Reserve += max(0, b.Steps-interruptSteps)
	b.Steps = min(b.Steps, interruptSteps)
}

// Left returns the steps that are left.
func (b *Budget) Left() int64 { return b.Steps + b.Reserve }

// Explain is the text of the error of a script that was stopped.
func (b *Budget) Explain(s *Stopped) string {
	if b.Setting == "" {
		return s.Error()
	}
	return s.Error() + ". Limit: " + strconv.FormatInt(b.Limit, 10) + " steps. Setting: " + b.Setting
}

// Stopped ends a script whose budget is spent. Scripts can't catch it.
type Stopped struct{ What string }

// Error says what was spent.
func (s *Stopped) Error() string { return "script used up its budget of " + s.What }

var (
	// SpentSteps ends a script that has no steps left.
	SpentSteps   = &Stopped{"instructions"}
	stoppedBytes = &Stopped{"memory"}
	// Killed ends a script that was interrupted.
	Killed = &Stopped{}
)

// bytesPerStep is the number of bytes that may be allocated or copied for one step.
const bytesPerStep = 16

// Step spends n steps.
func (b *Budget) Step(n int) {
	b.Steps -= int64(n)
	if b.Steps < 0 {
		b.stop()
	}
}

// Alloc spends n bytes and the steps that making them takes.
func (b *Budget) Alloc(n int) {
	b.Bytes -= int64(n)
	b.Steps -= int64(n / bytesPerStep)
	if b.Bytes < 0 || b.Steps < 0 {
		b.stop()
	}
}

// stop ends the script, unless it may go on with some of its reserve.
func (b *Budget) stop() {
	switch {
	case b.Bytes < 0:
		panic(stoppedBytes)
	case b.Interrupted != nil && b.Interrupted():
		panic(Killed)
	case b.Left() < 0:
		panic(SpentSteps)
	}
	n := min(b.Reserve, interruptSteps-b.Steps)
	b.Steps, b.Reserve = b.Steps+n, b.Reserve-n
}

// Logical sizes of objects in bytes.
const (
	sizeString  = 48
	sizeTable   = 128
	sizeNode    = 64
	sizeValue   = 24
	sizeClosure = 80
	sizeCell    = 24
)
