package observe

import (
	"context"
	"log"
	"log/slog"
	"strings"
)

// Standard is a logger of package log that writes to l. A level in front of a line,
// as memberlist writes it ("[WARN] memberlist: …"), is read; without one it is info.
func Standard(l *slog.Logger) *log.Logger { return log.New(lines{l}, "", 0) }

// lines is a writer that makes each line a record.
type lines struct{ to *slog.Logger }

var lineLevels = map[string]slog.Level{
	"TRACE": levelTrace, "DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo,
	"WARN": slog.LevelWarn, "ERR": slog.LevelError, "ERROR": slog.LevelError,
}

// Write takes one line.
func (l lines) Write(p []byte) (int, error) {
	level, text := slog.LevelInfo, strings.TrimSpace(string(p))
	if rest, ok := strings.CutPrefix(text, "["); ok {
		if name, after, ok := strings.Cut(rest, "]"); ok {
			if known, ok := lineLevels[name]; ok {
				level, text = known, strings.TrimSpace(after)
			}
		}
	}
	l.to.Log(context.Background(), level, text)
	return len(p), nil
}
