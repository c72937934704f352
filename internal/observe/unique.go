package observe

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"time"
)

// unique is a handler that writes each key once, and says the unit of a duration in its key. JSON parsers keep one of two members of
// one name, which one is theirs to choose, and slog writes durations as bare numbers.
type unique struct {
	to    slog.Handler
	given []slog.Attr // by WithAttrs
	group string      // of WithGroup: keys from then on begin with it
}

// reserved are the keys that slog writes itself.
var reserved = []string{slog.TimeKey, slog.LevelKey, slog.MessageKey}

// Enabled asks the handler that writes.
func (u *unique) Enabled(ctx context.Context, level slog.Level) bool {
	return u.to.Enabled(ctx, level)
}

// Handle writes a record. Of two attributes of one key the later one is written, at the place of the earlier.
func (u *unique) Handle(ctx context.Context, r slog.Record) error {
	attrs := slices.Clone(u.given)
	r.Attrs(func(a slog.Attr) bool {
		attrs = u.put(attrs, a)
		return true
	})
	out := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	out.AddAttrs(attrs...)
	return u.to.Handle(ctx, out)
}

// WithAttrs is a handler that writes attributes with every record.
func (u *unique) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *u
	next.given = slices.Clone(u.given)
	for _, a := range attrs {
		next.given = u.put(next.given, a)
	}
	return &next
}

// WithGroup is a handler whose keys begin with a name: records stay flat.
func (u *unique) WithGroup(name string) slog.Handler {
	next := *u
	next.group += name + "."
	return &next
}

// put adds an attribute under the key that it is written by.
func (u *unique) put(attrs []slog.Attr, a slog.Attr) []slog.Attr {
	a.Value = a.Value.Resolve()
	if a.Value.Kind() == slog.KindAny { // of other kinds Any would allocate
		if addr, is := a.Value.Any().(net.Addr); is {
			a.Value = slog.StringValue(addr.String()) // JSON would show the fields of the type
		}
	}
	a.Key = u.group + a.Key
	if slices.Contains(reserved, a.Key) {
		a.Key += "_value"
	}
	if a.Value.Kind() == slog.KindDuration {
		// Until 0.2 durations were written in nanoseconds without their unit: both are, for one version.
		attrs = put(attrs, slog.Int64(a.Key, int64(a.Value.Duration())))
		a.Key += "_ms"
		a.Value = slog.Float64Value(float64(a.Value.Duration()) / float64(time.Millisecond))
	}
	return put(attrs, a)
}

func put(attrs []slog.Attr, a slog.Attr) []slog.Attr {
	if i := slices.IndexFunc(attrs, func(b slog.Attr) bool { return b.Key == a.Key }); i >= 0 && a.Key != "" {
		attrs[i] = a
		return attrs
	}
	return append(attrs, a)
}
