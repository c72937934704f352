package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/trireme-dev/trireme/cli"
)

// untilSignal returns a context that ends at the first SIGTERM or SIGINT. A second one ends the
// process at once.
func untilSignal(parent context.Context, log *slog.Logger) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	done := make(chan struct{})
	go func() {
		defer cancel()
		select {
		case s := <-signals:
			log.Info("stopping; a second signal stops at once", "signal", s.String())
		case <-done:
			return
		}
		cancel()
		select {
		case s := <-signals:
			log.Warn("stopped at once", "signal", s.String())
			os.Exit(cli.ExitFailed)
		case <-done:
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done) }
}
