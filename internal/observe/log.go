package observe

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLogger writes records of at least level (debug, info, warn, error) to w, in the
// format json or text. A JSON record has each key once, and durations in milliseconds under keys that end with _ms.
func NewLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q is none of debug, info, warn, error", level)
	}
	options := &slog.HandlerOptions{Level: least}
	switch format {
	case "json":
		return slog.New(&unique{to: slog.NewJSONHandler(w, options)}), nil
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	}
	return nil, fmt.Errorf("log format %q is neither json nor text", format)
}
