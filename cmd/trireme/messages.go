package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"trireme/fsm/queue"
)

// messageFlags declares the replicated settings of messages. They are taken at the
// cluster's first start; later POST /admin/settings/messages changes them.
func messageFlags(f *pflag.FlagSet, n *queue.Settings) {
	*n = queue.DefaultSettings()
	time := func(to *int64, name, usage string) { f.Var((*millis)(to), name, usage) }
	size := func(to *int64, name, usage string) { f.Var((*byteSize)(to), name, usage) }
	count := func(to *int, name, usage string) { f.IntVar(to, name, *to, usage) }
	time(&n.EventAge, "event-retention", "how long events, and delivered and cancelled messages, are kept; 0 is for ever; replicated like --max-memory")
	size(&n.EventBytes, "event-bytes", "how much of them is kept; 0 is all; replicated")
	time(&n.DeadAge, "dlq-retention", "how long dead letters are kept; 0 is for ever; replicated")
	size(&n.DeadBytes, "dlq-bytes", "how much of them is kept; 0 is all; replicated")
	time(&n.Grace, "message-grace", "how long a message can be read after it is done; replicated")
	time(&n.DedupWindow, "dedup-window", "how long deduplication ids are remembered; replicated")
	count(&n.DefaultRetries, "default-retries", "retries of messages that name none; replicated")
	time(&n.MaxTimeout, "max-timeout", "how long one attempt may take, and takes if its message names nothing; replicated")
	time(&n.MaxDelay, "max-delay", "longest delay of a message; 0 is none; replicated")
	size(&n.MaxMessage, "max-message-size", "largest body of a message; 0 leaves --max-request-size; replicated")
	count(&n.MaxRetries, "max-retries", "most retries that a message may name; 0 is none; replicated")
	count(&n.MaxParallelism, "max-parallelism", "most parallelism that a queue or flow-control key may have; 0 is none; replicated")
	count(&n.MaxQueues, "max-queues", "most queues; 0 is none; replicated")
	count(&n.MaxSchedules, "max-schedules", "most schedules; 0 is none; replicated")
	count(&n.MaxGroups, "max-topics", "most URL groups; 0 is none; replicated")
	count(&n.MaxEndpoints, "max-endpoints-per-topic", "most endpoints of a URL group; 0 is none; replicated")
	count(&n.GlobalParallelism, "global-parallelism", "most delivery `ATTEMPTS` under way in the cluster; 0 is none; replicated")
}

// checkMessages refuses settings that can't be.
func (s *settings) checkMessages() error {
	n := &s.Messages
	for name, v := range map[string]int{ // unordered: any of the wrong ones will do
		"default-retries": n.DefaultRetries, "max-retries": n.MaxRetries, "max-parallelism": n.MaxParallelism, "max-queues": n.MaxQueues,
		"max-schedules": n.MaxSchedules, "max-topics": n.MaxGroups, "max-endpoints-per-topic": n.MaxEndpoints, "global-parallelism": n.GlobalParallelism,
	} {
		if v < 0 {
			return usagef("--%s %d is less than 0", name, v)
		}
	}
	return nil
}

// millis is a flag in milliseconds that is written as times of messages are: 10m, 7d.
type millis int64

// String is the form with the largest unit that fits.
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
		return fmt.Errorf("%q is no time: give a number with a unit, such as 10m or 7d", text)
	}
	*m = millis(ms)
	return nil
}

// Type names the value in usage texts.
func (*millis) Type() string { return "time" }
