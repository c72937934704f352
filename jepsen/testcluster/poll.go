package testcluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// permanent marks an error that no further try can change.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent makes Poll give up with this error.
func Permanent(err error) error { return permanent{err} }

// Poll tries until try returns nil or a Permanent error, or the context ends; in that case the last error of a try that
// the end did not cut short is part of what is returned.
func Poll(ctx context.Context, every time.Duration, try func() error) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var last error
	for {
		err := try()
		var final permanent
		switch {
		case err == nil:
			return nil
		case errors.As(err, &final):
			return final.error
		case last == nil || ctx.Err() == nil:
			last = err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), last)
		}
	}
}
