package observe

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

// raftLevels are raft's messages that are logged at another level than raft's own. At info
// stay leadership and snapshots; every other message of that level (each configuration
// update, each pipeline started or stopped) becomes debug. What every election or dead peer
// causes is no error of this node.
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

// Raft is a logger for raft that writes to l: levels are mapped, its noise at info
// becomes debug, and a warning or error that comes again and again (one for each
// heartbeat to a dead peer) is written once in a while with a count.
func Raft(l *slog.Logger) hclog.Logger {
	return &bridge{to: l.With("part", "raft"), level: raftLevel, often: newLimiter()}
}

// HCLog is a logger for libraries that use hclog.
func HCLog(l *slog.Logger) hclog.Logger {
	return &bridge{to: l, level: slogLevel, often: newLimiter()}
}

func raftLevel(level hclog.Level, msg string) slog.Level {
	if known, ok := raftLevels[msg]; ok {
		return known
	}
	if level == hclog.Info {
		return slog.LevelDebug
	}
	return slogLevel(level, msg)
}

// levelTrace lies below debug: no setting of --log-level shows it.
const levelTrace = slog.LevelDebug - 4

func slogLevel(level hclog.Level, _ string) slog.Level {
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

// bridge is a hclog.Logger that writes to a slog.Logger. Its level is the one of its
// target and can't be set.
type bridge struct {
	to      *slog.Logger
	level   func(hclog.Level, string) slog.Level
	often   *limiter
	name    string
	implied []any
}

var _ hclog.Logger = (*bridge)(nil)

// Log writes one message with its key and value pairs.
func (b *bridge) Log(level hclog.Level, msg string, args ...any) {
	ctx, to := context.Background(), b.level(level, msg)
	if level == hclog.Off || !b.to.Enabled(ctx, to) {
		return
	}
	attrs := attributes(args)
	if to >= slog.LevelWarn {
		suppressed, ok := b.often.allow(msg + "\x00" + subject(args))
		if !ok {
			return
		}
		if suppressed > 0 {
			attrs = append(attrs, slog.Int("suppressed", suppressed))
		}
	}
	b.to.LogAttrs(ctx, to, msg, attrs...)
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

// Trace writes below debug.
func (b *bridge) Trace(msg string, args ...any) { b.Log(hclog.Trace, msg, args...) }

// Debug writes at debug.
func (b *bridge) Debug(msg string, args ...any) { b.Log(hclog.Debug, msg, args...) }

// Info writes at info.
func (b *bridge) Info(msg string, args ...any) { b.Log(hclog.Info, msg, args...) }

// Warn writes at warn.
func (b *bridge) Warn(msg string, args ...any) { b.Log(hclog.Warn, msg, args...) }

// Error writes at error.
func (b *bridge) Error(msg string, args ...any) { b.Log(hclog.Error, msg, args...) }

func (b *bridge) enabled(level slog.Level) bool { return b.to.Enabled(context.Background(), level) }

// IsTrace reports whether trace messages are written.
func (b *bridge) IsTrace() bool { return b.enabled(levelTrace) }

// IsDebug reports whether debug messages are written.
func (b *bridge) IsDebug() bool { return b.enabled(slog.LevelDebug) }

// IsInfo reports whether info messages are written.
func (b *bridge) IsInfo() bool { return b.enabled(slog.LevelInfo) }

// IsWarn reports whether warnings are written.
func (b *bridge) IsWarn() bool { return b.enabled(slog.LevelWarn) }

// IsError reports whether errors are written.
func (b *bridge) IsError() bool { return b.enabled(slog.LevelError) }

// ImpliedArgs are the pairs that With has added.
func (b *bridge) ImpliedArgs() []any { return b.implied }

// With is a logger that adds pairs to every message.
func (b *bridge) With(args ...any) hclog.Logger {
	c := *b
	attrs := attributes(args)
	anys := make([]any, len(attrs))
	for i, a := range attrs {
		anys[i] = a
	}
	c.to = b.to.With(anys...)
	c.implied = append(append([]any{}, b.implied...), args...)
	return &c
}

// Name is the name of the logger.
func (b *bridge) Name() string { return b.name }

// Named is the same logger under a longer name. Names are not written: the part
// attribute says who speaks.
func (b *bridge) Named(name string) hclog.Logger {
	if b.name != "" {
		name = b.name + "." + name
	}
	return b.ResetNamed(name)
}

// ResetNamed is the same logger under another name.
func (b *bridge) ResetNamed(name string) hclog.Logger {
	c := *b
	c.name = name
	return &c
}

// SetLevel does nothing: the level is that of the target.
func (b *bridge) SetLevel(hclog.Level) {}

// GetLevel is the least level that is written.
func (b *bridge) GetLevel() hclog.Level {
	switch {
	case b.IsTrace():
		return hclog.Trace
	case b.IsDebug():
		return hclog.Debug
	case b.IsInfo():
		return hclog.Info
	case b.IsWarn():
		return hclog.Warn
	}
	return hclog.Error
}

// StandardLogger is a logger of package log that writes here.
func (b *bridge) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger { return Standard(b.to) }

// StandardWriter is a writer of lines that writes here.
func (b *bridge) StandardWriter(*hclog.StandardLoggerOptions) io.Writer { return lines{b.to} }
