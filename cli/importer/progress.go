package importer

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/internal/plural"
)

// Progress is the progress of an import.
type Progress struct {
	// Bytes counts the bytes read of the file, Keys the imported keys.
	Bytes, Keys int64
	Elapsed     time.Duration
}

// Line shows the progress in a file of size bytes, 0 if that isn't known, as one line of
// text: a bar, the keys, their rate, and how long the rest will take.
func (p Progress) Line(size int64) string {
	rate := float64(p.Keys) / max(p.Elapsed.Seconds(), 0.001)
	if size <= 0 {
		return fmt.Sprintf("%d MB  %s  %.0f/s", p.Bytes>>20, plural.Of(p.Keys, "key"), rate)
	}
	const width = 30
	part := min(1, float64(p.Bytes)/float64(size))
	full := int(part * width)
	line := fmt.Sprintf("[%s%s] %3.0f%%  %s  %.0f/s", strings.Repeat("#", full), strings.Repeat(".", width-full), 100*part, plural.Of(p.Keys, "key"), rate)
	if part > 0.01 && part < 1 {
		left := time.Duration(float64(p.Elapsed) / part * (1 - part))
		line += "  " + left.Round(time.Second).String() + " left"
	}
	return line
}

// watch reports the progress until it is stopped.
type watch struct {
	done chan struct{}
	all  sync.WaitGroup
}

func startWatch(o *Options, p *pool) *watch {
	w := &watch{done: make(chan struct{})}
	if o.Watch == nil {
		return w
	}
	began := time.Now()
	tell := func() {
		at := Progress{Bytes: p.offset.Load(), Elapsed: time.Since(began)}
		p.report.add(func(r *Report) { at.Keys = r.Keys })
		o.Watch(at)
	}
	w.all.Go(func() {
		ticker := time.NewTicker(o.Every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				tell()
			case <-w.done:
				tell()
				return
			}
		}
	})
	return w
}

func (w *watch) end() {
	close(w.done)
	w.all.Wait()
}
