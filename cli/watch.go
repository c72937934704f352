package cli

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
)

// watching holds the flags of repeated views.
type watching struct {
	watch    bool
	interval time.Duration
	count    int
}

func (w *watching) flags(f *pflag.FlagSet) {
	f.BoolVarP(&w.watch, "watch", "w", false, "refresh the view until interrupted")
	w.times(f)
}

// times declares the flags of how often.
func (w *watching) times(f *pflag.FlagSet) {
	f.DurationVar(&w.interval, "interval", time.Second, "time between refreshes")
	f.IntVar(&w.count, "count", 0, "`NUMBER` of refreshes (0 = until interrupted)")
}

// unused refuses flags of --watch without it.
func (w *watching) unused(f *pflag.FlagSet) error {
	if w.watch || f.Lookup("watch") == nil || f.Changed("follow") {
		return nil
	}
	for _, name := range []string{"count", "interval"} {
		if f.Changed(name) {
			return Usagef("--%s is of refreshes: it needs --watch", name)
		}
	}
	return nil
}

// leastInterval is the least time between refreshes.
const leastInterval = 50 * time.Millisecond

// each shows something again and again: on a terminal at the same place, elsewhere one after another. A node that does not answer any more
// is reported and asked again. press is told of keys, and reports whether to show it again at once; nil without keys.
func (w *watching) each(s *session, show func(out io.Writer) error, press func(key rune) bool) error {
	if !s.to.is {
		return w.repeat(s, show)
	}
	out := s.cmd.OutOrStdout()
	on := openScreen(out, s.cmd.InOrStdin())
	defer on.close()
	last := ""
	for n := 1; ; n++ {
		s.to = look(out, s.color)
		var frame bytes.Buffer
		s.cmd.SetOut(&frame)
		err := show(&frame)
		s.cmd.SetOut(out)
		status := s.to.paint(dim, fmt.Sprintf("%s, every %s; q ends", s.to.now.Format(time.TimeOnly), w.interval))
		switch {
		case s.ctx.Err() != nil:
			return nil // an interrupt ends it normally
		case ExitCode(err) == ExitUnreachable && n > 1 && n != w.count:
			status = s.to.paint(red, printable(err.Error()))
		case err != nil:
			return err
		default:
			last = frame.String()
		}
		on.draw(last, status, s.to.height)
		if n == w.count || !w.wait(s, on, press) {
			return nil
		}
	}
}

// wait waits for the next refresh, and reports whether there is one.
func (w *watching) wait(s *session, on *screen, press func(rune) bool) bool {
	next := time.After(max(w.interval, leastInterval))
	for {
		select {
		case <-s.ctx.Done():
			return false
		case <-next:
			return true
		case key := <-on.keys:
			switch {
			case key == keyInterrupt:
				return false
			case press != nil && press(key) || key == ' ':
				return true
			case key == 'q' || key == 'Q':
				return false
			}
		}
	}
}

// repeat shows something again and again, one after another.
func (w *watching) repeat(s *session, show func(out io.Writer) error) error {
	for n := 1; ; n++ {
		if err := show(s.cmd.OutOrStdout()); s.ctx.Err() != nil {
			return nil
		} else if ExitCode(err) == ExitUnreachable && n > 1 && n != w.count {
			fmt.Fprintln(s.cmd.ErrOrStderr(), err)
		} else if err != nil {
			return err
		}
		if n == w.count {
			return nil
		}
		select {
		case <-s.ctx.Done():
			return nil
		case <-time.After(max(w.interval, leastInterval)):
		}
	}
}
