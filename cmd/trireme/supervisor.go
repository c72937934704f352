package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// supervisor notifies the service manager that started this process (systemd with Type=notify) over a
// datagram socket (sd_notify). A nil supervisor does nothing.
type supervisor struct {
	conn *net.UnixConn
	// every is its watchdog interval (0 = no watchdog).
	every time.Duration
	log   *slog.Logger
}

// supervise notifies the service manager of this process's state until stop is called.
func (pr *process) supervise(log *slog.Logger) (stop func()) {
	pr.supervisor = newSupervisor(log)
	pr.supervisor.notify("STATUS=starting, or waiting for the other nodes")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		pr.supervisor.feedWatchdog(ctx, func() { pr.engine.Local(func(*fsm.View) {}) })
	}()
	return func() {
		cancel()
		<-done
		pr.supervisor.close()
	}
}

// newSupervisor returns the supervisor that the environment names, or nil. Invalid values are logged
// and ignored.
func newSupervisor(log *slog.Logger) *supervisor {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	// A name that begins with @ is in the abstract space, which package net knows.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		log.Warn("the service manager can't be notified", "error", err)
		return nil
	}
	s := &supervisor{conn: conn, log: log}
	if s.every, err = watchdogEvery(os.Getenv("WATCHDOG_USEC"), os.Getenv("WATCHDOG_PID")); err != nil {
		log.Warn("the service manager's watchdog is not fed", "error", err)
	}
	return s
}

// watchdogEvery returns the interval at which to feed the watchdog, half of the one that it asks for,
// or 0 if it watches another process. micros and pid are WATCHDOG_USEC and WATCHDOG_PID.
func watchdogEvery(micros, pid string) (time.Duration, error) {
	if micros == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0, nil
	}
	n, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || n < 2 || n > int64(1<<62)/1000 {
		return 0, fmt.Errorf("WATCHDOG_USEC is %q", micros)
	}
	return time.Duration(n) * time.Microsecond / 2, nil
}

// notify sends assignments, such as READY=1.
func (s *supervisor) notify(assignments ...string) {
	if s == nil {
		return
	}
	if _, err := s.conn.Write([]byte(strings.Join(assignments, "\n"))); err != nil && !errors.Is(err, net.ErrClosed) {
		s.log.Warn("the service manager was not notified", "what", assignments[0], "error", err)
	}
}

// feedWatchdog feeds the watchdog until ctx ends, each time after alive has returned: one that
// hangs starves it, and the service manager ends the process.
func (s *supervisor) feedWatchdog(ctx context.Context, alive func()) {
	if s == nil || s.every == 0 {
		return
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		alive()
		s.notify("WATCHDOG=1")
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *supervisor) close() {
	if s != nil {
		s.conn.Close()
	}
}
