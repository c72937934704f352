package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// messageFlags declares the replicated settings of messages. The cluster's first start
// stores them; later POST /admin/settings/messages changes them.
func messageFlags(f *pflag.FlagSet, n *queue.Settings) {
	*n = queue.DefaultSettings()
	time := func(to *int64, name, usage string) { f.Var((*millis)(to), name, usage) }
	size := func(to *int64, name, usage string) { f.Var((*byteSize)(to), name, usage) }
	count := func(to *int, name, usage string) { f.IntVar(to, name, *to, usage) }
	time(&n.EventAge, "event-retention", "how long events, and delivered and cancelled messages, are kept (0 = unlimited); replicated like --max-memory")
	size(&n.EventBytes, "event-bytes", "maximum size of the events that are kept (0 = unlimited); replicated")
	time(&n.DeadAge, "dlq-retention", "how long dead letters are kept (0 = unlimited); replicated")
	size(&n.DeadBytes, "dlq-bytes", "maximum size of the dead letters that are kept (0 = unlimited); replicated")
	time(&n.Grace, "message-grace", "how long a finished message can be read; replicated")
	time(&n.DedupWindow, "dedup-window", "how long deduplication ids are remembered; replicated")
	count(&n.DefaultRetries, "default-retries", "number of retries of a message that does not set it; replicated")
	time(&n.MaxTimeout, "max-timeout", "time limit of one attempt, maximum and default; replicated")
	time(&n.MaxDelay, "max-delay", "maximum delay of a message (0 = unlimited); replicated")
	size(&n.MaxMessage, "max-message-size", "maximum size of a message's body (0 = --max-request-size); replicated")
	count(&n.MaxRetries, "max-retries", "maximum number of retries of a message (0 = unlimited); replicated")
	count(&n.MaxParallelism, "max-parallelism", "maximum parallelism of a queue or flow-control key (0 = unlimited); replicated")
	count(&n.MaxQueues, "max-queues", "maximum number of queues (0 = unlimited); replicated")
	count(&n.MaxSchedules, "max-schedules", "maximum number of schedules (0 = unlimited); replicated")
	count(&n.MaxGroups, "max-topics", "maximum number of URL groups (0 = unlimited); replicated")
	count(&n.MaxEndpoints, "max-endpoints-per-topic", "maximum number of endpoints of a URL group (0 = unlimited); replicated")
	count(&n.GlobalParallelism, "global-parallelism", "maximum number of concurrent delivery `ATTEMPTS` in the cluster (0 = unlimited); replicated")
}

// checkMessages checks the settings of messages.
func (s *settings) checkMessages() error {
	n := &s.Messages
	for name, v := range map[string]int{ // unordered: any of the wrong ones will do
		"default-retries": n.DefaultRetries, "max-retries": n.MaxRetries, "max-parallelism": n.MaxParallelism, "max-queues": n.MaxQueues,
		"max-schedules": n.MaxSchedules, "max-topics": n.MaxGroups, "max-endpoints-per-topic": n.MaxEndpoints, "global-parallelism": n.GlobalParallelism,
	} {
		if v < 0 {
			return cli.Usagef("--%s must not be negative, got %d", name, v)
		}
	}
	return nil
}

// millis is the value of a flag in milliseconds, written as times of messages are: 10m, 7d.
type millis int64

// String returns the time in the largest unit that represents it exactly.
func (m *millis) String() string {
	for _, u := range []struct {
		ms   int64
		name string
	}{{86_400_000, "d"}, {3_600_000, "h"}, {60_000, "m"}} {
		if n := int64(*m); n != 0 && n%u.ms == 0 {
			return strconv.FormatInt(n/u.ms, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*m)/1000, 10) + "s"
}

// Set parses groups of a number and a unit s, m, h or d; a bare number is seconds.
func (m *millis) Set(text string) error {
	ms, ok := queue.ParseDuration(text)
	if !ok {
		return fmt.Errorf("%q is not a time: give a number with a unit, such as 10m or 7d", text)
	}
	*m = millis(ms)
	return nil
}

// Type names the value in usage texts.
func (*millis) Type() string { return "time" }
