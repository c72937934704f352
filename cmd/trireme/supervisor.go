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

	"trireme/fsm"
)

// supervisor is the service manager that started this process, systemd with Type=notify:
// it hears on a datagram socket what becomes of it (sd_notify). A nil one hears nothing.
type supervisor struct {
	conn *net.UnixConn
	// every is how often it wants to hear that the process lives; 0 is never.
	every time.Duration
	log   *slog.Logger
}

// supervise tells the service manager how this process does until stop is called.
func (n *process) supervise(log *slog.Logger) (stop func()) {
	n.supervisor = newSupervisor(log)
	n.supervisor.tell("STATUS=starting, or waiting for the other nodes")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.supervisor.feed(ctx, func() { n.engine.Local(func(*fsm.View) {}) })
	}()
	return func() {
		cancel()
		<-done
		n.supervisor.close()
	}
}

// newSupervisor looks for one in the environment. What can't be understood there is told in
// the log: the node runs without.
func newSupervisor(log *slog.Logger) *supervisor {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	// A name that begins with @ is in the abstract space, which package net knows.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		log.Warn("the service manager is not told anything", "error", err)
		return nil
	}
	s := &supervisor{conn: conn, log: log}
	if s.every, err = watchdogEvery(os.Getenv("WATCHDOG_USEC"), os.Getenv("WATCHDOG_PID")); err != nil {
		log.Warn("the service manager's watchdog is not fed", "error", err)
	}
	return s
}

// watchdogEvery is how often the watchdog is fed: twice as often as it wants. The process
// id, where it is given, says whom it watches.
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

// tell sends assignments, such as READY=1.
func (s *supervisor) tell(assignments ...string) {
	if s == nil {
		return
	}
	if _, err := s.conn.Write([]byte(strings.Join(assignments, "\n"))); err != nil && !errors.Is(err, net.ErrClosed) {
		s.log.Warn("the service manager was not told", "what", assignments[0], "error", err)
	}
}

// feed feeds the watchdog until ctx ends, each time after alive has returned: one that
// hangs starves it, and the service manager ends the process.
func (s *supervisor) feed(ctx context.Context, alive func()) {
	if s == nil || s.every == 0 {
		return
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		alive()
		s.tell("WATCHDOG=1")
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
