package growth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrSuperlinear says that the time of a parser grows faster than what it reads.
var ErrSuperlinear = errors.New("growth: more than linear")

// Family is a kind of input that a parser is given at growing sizes.
type Family struct {
	// Name is the parser and what is hostile about the input.
	Name string
	// Prepare makes an input of about n bytes and returns what reads it once. Memory that
	// the reading needs may be taken again and again: what is measured is a whole reading.
	Prepare func(n int) func()
}

// Point is the shortest time in which an input of one size was read.
type Point struct {
	// Size is the size of the input in bytes.
	Size int
	Best time.Duration
}

const (
	smallest = 4 << 10
	largest  = 256 << 10
	step     = 4
	attempts = 5
	// noise is the resolution of the measurement: readings that take less count as this.
	noise = 20 * time.Microsecond
	// margin bounds the factor by which a larger input may exceed its share of time: caches
	// end, memory is collected, and other programs run. Quadratic growth exceeds it long
	// before the largest size.
	margin = 6
	// tooLong ends a family: it has failed, whatever comes next.
	tooLong = 3 * time.Second
)

// Measure times readings of all sizes, each several times, until one takes far too long.
func (f *Family) Measure(ctx context.Context) (points []Point) {
	for n := smallest; n <= largest && ctx.Err() == nil; n *= step {
		read := f.Prepare(n)
		best := tooLong
		for range attempts {
			began := time.Now()
			read()
			took := time.Since(began)
			best = min(best, took)
			if took >= tooLong {
				break
			}
		}
		points = append(points, Point{n, best})
		if best >= tooLong {
			break
		}
	}
	return points
}

// Judge holds the times of points against the first one's share. The error is
// ErrSuperlinear.
func Judge(points []Point) error {
	if len(points) == 0 {
		return errors.New("growth: nothing was measured")
	}
	first := points[0]
	for _, p := range points[1:] {
		allowed := margin * max(first.Best, noise) * time.Duration(p.Size/first.Size)
		if p.Best > allowed {
			return fmt.Errorf("%w: %d bytes took %v, %d bytes %v", ErrSuperlinear, first.Size, first.Best, p.Size, p.Best)
		}
	}
	return nil
}

// Shown are points on one line.
func Shown(points []Point) string {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%7d: %-10v", p.Size, p.Best.Round(time.Microsecond))
	}
	return strings.TrimSpace(b.String())
}
