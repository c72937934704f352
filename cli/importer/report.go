package importer

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/trireme-dev/trireme/internal/plural"
)

// maxExamples bounds the keys that a report names for each failure.
const maxExamples = 5

// Failure is a reason for which keys were not imported.
type Failure struct {
	Reason   string   `json:"reason"`
	Count    int64    `json:"count"`
	Examples []string `json:"examples"` // the first keys
}

// Report is the result of an import.
type Report struct {
	// FileVersion is the version of the format, ServerVersion that of the server that
	// wrote the file, if it says so.
	FileVersion   int    `json:"fileVersion"`
	ServerVersion string `json:"serverVersion,omitempty"`
	// Keys counts the imported keys, Types the same by type, Libraries the imported libraries of
	// functions.
	Keys      int64            `json:"keys"`
	Types     map[string]int64 `json:"types"`
	Libraries int64            `json:"libraries"`
	// Kept are keys and libraries that existed and were left as they were, Expired those past their
	// deadline, Skipped those passed over as it was asked for.
	Kept    int64 `json:"kept"`
	Expired int64 `json:"expired"`
	Skipped int64 `json:"skipped"`
	// OtherDatabases counts the keys of databases that weren't asked for, by number.
	OtherDatabases map[uint64]int64 `json:"otherDatabases,omitempty"`
	// Modules store auxiliary data, which is not imported.
	Modules []string `json:"modules,omitempty"`
	// Failures lists the keys that were not imported, by reason.
	Failures []*Failure `json:"failures,omitempty"`
	// Done counts the keys of the database, from the beginning of the file, that were handled.
	// An import continues with this value as Skip.
	Done    int64   `json:"done"`
	Seconds float64 `json:"seconds"`

	mu sync.Mutex
}

func newReport() *Report {
	return &Report{Types: map[string]int64{}, OtherDatabases: map[uint64]int64{}}
}

// add changes the report alone.
func (r *Report) add(change func(*Report)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

func (r *Report) took(e *entry) {
	r.add(func(r *Report) {
		if e.functions {
			r.Libraries++
			return
		}
		r.Keys++
		r.Types[e.kind]++
	})
}

func (r *Report) fail(name, reason string) {
	r.add(func(r *Report) {
		at := slices.IndexFunc(r.Failures, func(f *Failure) bool { return f.Reason == reason })
		if at < 0 {
			at = len(r.Failures)
			r.Failures = append(r.Failures, &Failure{Reason: reason})
		}
		f := r.Failures[at]
		if f.Count++; len(f.Examples) < maxExamples {
			f.Examples = append(f.Examples, name)
		}
	})
}

// Failed returns the number of keys and libraries that should have been imported and were not.
func (r *Report) Failed() (n int64) {
	for _, f := range r.Failures {
		n += f.Count
	}
	return n
}

// Write prints the report as text.
func (r *Report) Write(w io.Writer) error {
	out := &lines{w: w}
	from := ""
	if r.ServerVersion != "" {
		from = " written by Redis " + r.ServerVersion
	}
	out.print("%s imported in %.1f s, %.0f a second, from a file of version %d%s", plural.Of(r.Keys, "key"), r.Seconds, float64(r.Keys)/max(r.Seconds, 0.001), r.FileVersion, from)
	for _, kind := range slices.SortedFunc(maps.Keys(r.Types), func(a, b string) int { return cmp.Compare(r.Types[b], r.Types[a]) }) {
		out.print("  %10d  %s", r.Types[kind], kind)
	}
	out.some(r.Libraries, "function library", "imported")
	if r.Kept > 0 {
		out.print("kept as it is here: %d of the keys and libraries (--replace overwrites them)", r.Kept)
	}
	out.some(r.Expired, "expired key", "left out")
	out.some(r.Skipped, "key", "skipped, as asked for")
	for _, db := range slices.Sorted(maps.Keys(r.OtherDatabases)) {
		out.print("%s of database %d not imported (import with --from %d)", plural.Of(r.OtherDatabases[db], "key"), db, db)
	}
	for _, name := range r.Modules {
		out.print("auxiliary data of the module %s was not imported", name)
	}
	for _, f := range r.Failures {
		out.print("%d not imported: %s; such as %q", f.Count, f.Reason, f.Examples)
	}
	return out.err
}

// lines writes lines until one can't be written.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) print(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format+"\n", args...)
	}
}

// some says what became of n things; nothing if there are none.
func (l *lines) some(n int64, noun, became string) {
	if n > 0 {
		l.print("%s %s", plural.Of(n, noun), became)
	}
}
