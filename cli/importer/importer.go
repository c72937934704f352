package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/trireme-dev/trireme/fsm/rdb"
)

// Options say what is brought where.
type Options struct {
	// URL is a node's address, Token opens the database there, and Database is its name;
	// empty is the default one.
	URL, Token, Database string
	// Client sends the requests; nil is one with a timeout of a minute.
	Client *http.Client
	// From is the number of the database in the file whose keys are imported.
	From uint64
	// Replace overwrites keys that exist; otherwise they are kept.
	Replace bool
	// Skip is the number of keys of that database to skip first.
	Skip int64
	// Workers bounds the requests under way at a time, Rows and Bytes the keys and bytes of a
	// request. A larger value has a request of its own, of up to MaxRequest bytes, or is sent
	// in parts. Values of more than MaxValue bytes are not imported.
	Workers, Rows, Bytes, MaxRequest, MaxValue int
	// Patience bounds the repetition of a request that fails.
	Patience time.Duration
	// Watch, if set, receives the progress regularly.
	Watch func(Progress)
	// Every is the interval between calls of Watch.
	Every time.Duration
}

// The defaults of options.
const (
	defaultWorkers    = 4
	defaultRows       = 1000
	defaultBytes      = 1 << 20
	defaultMaxRequest = 8 << 20 // below the least limit that nodes have by themselves
	defaultMaxValue   = 1 << 30
	defaultPatience   = time.Minute
	defaultTimeout    = time.Minute
	defaultEvery      = 200 * time.Millisecond
)

func (o *Options) fill() {
	fill(&o.Workers, defaultWorkers)
	fill(&o.Rows, defaultRows)
	fill(&o.Bytes, defaultBytes)
	fill(&o.MaxRequest, defaultMaxRequest)
	fill(&o.MaxValue, defaultMaxValue)
	fill(&o.Patience, defaultPatience)
	fill(&o.Every, defaultEvery)
	if o.Client == nil {
		o.Client = &http.Client{Timeout: defaultTimeout}
	}
}

func fill[T comparable](field *T, standard T) {
	var zero T
	if *field == zero {
		*field = standard
	}
}

// Run reads a file and brings its keys into the database. The report is good as far as
// it goes with an error too: that of a file that can't be read (rdb.ErrFormat), of a
// database that takes nothing more (ErrRefused), of a node that can't be reached
// (ErrUnreachable), or of the context.
func Run(ctx context.Context, file io.Reader, o Options) (*Report, error) {
	o.fill()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	began := time.Now()
	c := newClient(&o)
	report := newReport()
	p := newPool(ctx, stop, c, report)
	watch := startWatch(&o, p)
	err := p.read(file)
	p.finish(err == nil)
	watch.end()
	report.Seconds = time.Since(began).Seconds()
	if cause := context.Cause(ctx); cause != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = cause
	}
	return report, err
}

// read goes through the file and fills batches, until the context ends.
func (p *pool) read(in io.Reader) error {
	file, err := rdb.OpenFile(in, p.o.MaxValue)
	if err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	p.report.FileVersion = file.Version
	for p.ctx.Err() == nil {
		item, err := file.Next()
		p.offset.Store(file.Offset())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the file: %w", err)
		}
		p.take(&item)
	}
	return p.ctx.Err()
}

// take looks at one item of the file.
func (p *pool) take(item *rdb.Item) {
	switch item.Kind {
	case rdb.ItemAux:
		if string(item.Name) == "redis-ver" {
			p.report.ServerVersion = string(item.Value)
		}
	case rdb.ItemModule:
		p.report.add(func(r *Report) { r.Modules = append(r.Modules, string(item.Name)) })
	case rdb.ItemFunctions:
		p.functions(item.Value)
	case rdb.ItemKey:
		if item.DB != p.o.From {
			p.report.add(func(r *Report) { r.OtherDatabases[item.DB]++ })
			return
		}
		p.key(item)
	}
}

// key puts a key into the batch that is filling, unless it is to be skipped.
func (p *pool) key(item *rdb.Item) {
	p.seen++
	switch {
	case p.seen <= p.o.Skip:
		p.report.add(func(r *Report) { r.Skipped++ })
		p.mark(p.seen)
	case item.Expire != 0 && item.Expire <= time.Now().UnixMilli():
		p.report.add(func(r *Report) { r.Expired++ })
	case item.TooLarge:
		p.report.fail(string(item.Name), fmt.Sprintf("value larger than %d bytes", p.o.MaxValue))
	default:
		p.send(item)
	}
}

// functions puts a library into the batch that is filling.
func (p *pool) functions(code []byte) {
	p.batch.open(entry{name: "a library of functions", functions: true})
	if p.o.Replace {
		p.batch.words("FUNCTION", "LOAD", "REPLACE", string(code))
	} else {
		p.batch.words("FUNCTION", "LOAD", string(code))
	}
	p.flushIfFull()
}
