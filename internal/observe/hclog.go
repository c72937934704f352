package observe

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

// raftLevels are raft's messages that are logged at another level than raft's own. At info stay leadership and snapshots; every
// other message of that level (each configuration update, each pipeline started or stopped) becomes debug. What every election or
// dead peer causes is no error of this node.
var raftLevels = map[string]slog.Level{
	"entering leader state":                         slog.LevelInfo,
	"entering follower state":                       slog.LevelInfo,
	"entering candidate state":                      slog.LevelInfo,
	"starting snapshot up to":                       slog.LevelInfo,
	"snapshot complete up to":                       slog.LevelInfo,
	"installing snapshot on":                        slog.LevelInfo,
	"Installed remote snapshot":                     slog.LevelInfo,
	"added peer, starting replication":              slog.LevelInfo,
	"removed peer, stopping replication":            slog.LevelInfo,
	"removed ourself, shutting down":                slog.LevelInfo,
	"removed ourself, transitioning to follower":    slog.LevelInfo,
	"heartbeat timeout reached, starting election":  slog.LevelInfo,
	"Election timeout reached, restarting election": slog.LevelInfo,
	"new leader elected, stepping down":             slog.LevelInfo,
	"peer has newer term, stopping replication":     slog.LevelInfo,
	"failed to decode incoming command":             slog.LevelInfo,  // the other end closed
	"failed to flush response":                      slog.LevelInfo,  // the same, or this node stops
	"failed to get previous log":                    slog.LevelDebug, // a follower that was pushed a newer commit index asks early; a leader that lacks the entry logs that itself
	"failed to heartbeat to":                        slog.LevelWarn,
	"failed to appendEntries to":                    slog.LevelWarn,
	"failed to pipeline appendEntries":              slog.LevelWarn,
	"failed to start pipeline replication to":       slog.LevelWarn,
	"failed to make requestVote RPC":                slog.LevelWarn,
	"failed to send snapshot to":                    slog.LevelWarn,
	"failed to install snapshot":                    slog.LevelWarn,
}

// Raft is a logger for raft that writes to l: levels are mapped, its noise at info becomes debug, and a warning or error that
// comes again and again (one for each heartbeat to a dead peer) is written once in a while with a count.
func Raft(l *slog.Logger) hclog.Logger { return raftLogger(l, newLimiter()) }

func raftLogger(l *slog.Logger, often *limiter) hclog.Logger {
	level := hclog.Error // the least that is written, for who asks
	for level > hclog.Trace && l.Enabled(context.Background(), slogLevel(level-1)) {
		level--
	}
	logger := hclog.NewInterceptLogger(&hclog.LoggerOptions{Level: level, Output: io.Discard})
	logger.RegisterSink(&sink{to: l.With("part", "raft"), often: often})
	return logger
}

func raftLevel(level hclog.Level, msg string) slog.Level {
	if known, ok := raftLevels[msg]; ok {
		return known
	}
	if level == hclog.Info {
		return slog.LevelDebug
	}
	return slogLevel(level)
}

// levelTrace lies below debug: no setting of --log-level shows it.
const levelTrace = slog.LevelDebug - 4

func slogLevel(level hclog.Level) slog.Level {
	switch level {
	case hclog.Info, hclog.NoLevel:
		return slog.LevelInfo
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Error:
		return slog.LevelError
	case hclog.Debug:
		return slog.LevelDebug
	}
	return levelTrace
}

// sink writes the messages of a hclog.Logger to a slog.Logger.
type sink struct {
	to    *slog.Logger
	often *limiter
}

// Accept writes one message with its key and value pairs. Names of loggers are not written: the part attribute says who speaks.
func (s *sink) Accept(_ string, level hclog.Level, msg string, args ...any) {
	ctx, to := context.Background(), raftLevel(level, msg)
	if !s.to.Enabled(ctx, to) {
		return
	}
	attrs := attributes(args)
	if to >= slog.LevelWarn {
		suppressed, ok := s.often.allow(msg + "\x00" + subject(args))
		if !ok {
			return
		}
		if suppressed > 0 {
			attrs = append(attrs, slog.Int("suppressed", suppressed))
		}
	}
	s.to.LogAttrs(ctx, to, msg, attrs...)
}

// nodeKey is under which every record names the node that writes it. Raft calls an address and a state so in a few messages, which
// would take the node's id out of them.
const nodeKey = "node"

// attributes reads pairs as hclog does: a last value without a key still shows.
func attributes(args []any) []slog.Attr {
	attrs := make([]slog.Attr, 0, len(args)/2+2)
	for ; len(args) > 1; args = args[2:] {
		key := strings.ReplaceAll(fmt.Sprint(args[0]), " ", "_") // "backoff time" is one
		if key == nodeKey {
			key = "server"
		}
		attrs = append(attrs, slog.Any(key, printable(args[1])))
	}
	if len(args) == 1 {
		attrs = append(attrs, slog.Any(hclog.MissingKey, printable(args[0])))
	}
	return attrs
}

// printable resolves hclog's wrappers of values.
func printable(value any) any {
	switch v := value.(type) {
	case hclog.Format:
		if format, ok := v[0].(string); ok {
			return fmt.Sprintf(format, v[1:]...)
		}
		return fmt.Sprint(v...)
	case error:
		return v.Error()
	case time.Duration:
		return v // the handler says its unit
	case fmt.Stringer:
		return v.String()
	}
	if reflect.ValueOf(value).Kind() == reflect.Struct {
		return fmt.Sprintf("%+v", value) // a peer is an address in some messages: a key has one type in JSON
	}
	return value
}

// subject is the peer of a message: repetitions are counted for each peer.
func subject(args []any) string {
	for ; len(args) > 1; args = args[2:] {
		if args[0] == "peer" || args[0] == "server-id" {
			return fmt.Sprint(args[1])
		}
	}
	return ""
}
