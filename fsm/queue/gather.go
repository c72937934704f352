package queue

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// GatherMode says what becomes of a publication where there is a message of its key.
type GatherMode uint8

// The modes. Of all that begin with Singleton one message of a key is live at a time.
const (
	// Debounce: it takes the place of the one that waits, which then waits anew.
	Debounce GatherMode = iota
	// Batched: it is delivered together with others.
	Batched
	// SingletonSkip: it is deduplicated while another one is live.
	SingletonSkip
	// SingletonAttach: it is answered with the one that is live.
	SingletonAttach
	// SingletonCancel: the one that is live is cancelled, and it comes next.
	SingletonCancel
	// SingletonQueue: it waits for the end of those before it.
	SingletonQueue
	gatherModes
)

var gatherNames = [gatherModes]string{"debounce", "batch", "skip", "attach", "cancel", "queue"}

// String is the mode's name.
func (gm GatherMode) String() string { return gatherNames[min(gm, SingletonQueue)] }

// Gather relates a message to others of its destination and key.
type Gather struct {
	Mode GatherMode
	Key  string
	// Wait is the time in milliseconds that a debounced message waits after its newest publication, and that a batch waits after its
	// first one.
	Wait int64
	// MaxWait is the longest that a debounced message waits after its first publication, in milliseconds (0 = unlimited).
	MaxWait int64
	// Size is the most publications of a batch, Bytes the most bytes of its body.
	Size  int
	Bytes int64
}

// The bounds of batches, and the defaults of what a batch does not name.
const (
	MaxBatchSize  = 1000
	MaxBatchBytes = 8 << 20

	defaultBatchSize  = 100
	defaultBatchWait  = 5_000
	defaultBatchBytes = 1 << 20
	// maxGatherKey is the longest key, in bytes.
	maxGatherKey = 256
)

// batches reports whether publications are delivered together.
func (g *Gather) batches() bool { return g != nil && g.Mode == Batched }

// waits reports whether a message waits for other publications.
func (g *Gather) waits() bool { return g != nil && g.Mode <= Batched }

func (g *Gather) isSingleton() bool { return g != nil && g.Mode > Batched }

// Directive is the name and the value of the directive that asks for it.
func (g *Gather) Directive() (name, value string) {
	seconds := func(ms int64) string { return strconv.FormatInt(ms/1000, 10) + "s" }
	value = "key=" + g.Key
	switch {
	case g.isSingleton():
		return "singleton", value + ", mode=" + g.Mode.String()
	case g.batches():
		return "batch", value + ", size=" + strconv.Itoa(g.Size) + ", wait=" + seconds(g.Wait) + ", bytes=" + strconv.FormatInt(g.Bytes, 10)
	case g.MaxWait > 0:
		return "debounce", value + ", delay=" + seconds(g.Wait) + ", max-wait=" + seconds(g.MaxWait)
	}
	return "debounce", value + ", delay=" + seconds(g.Wait)
}

// Fields codes the value in its wire format.
func (g *Gather) Fields(c *wire.Codec) {
	wire.Enum(c, &g.Mode, gatherModes)
	c.Text(&g.Key)
	c.Varint(&g.Wait)
	c.Varint(&g.MaxWait)
	c.Int(&g.Size)
	c.Varint(&g.Bytes)
}

func (c *Config) debounce(v string) string {
	g := &Gather{Mode: Debounce}
	return c.gather(g, v, func(name, value string) (wrong string, known bool) {
		switch name {
		case "delay":
			return positive(&g.Wait, value), true
		case "max-wait":
			return positive(&g.MaxWait, value), true
		}
		return "", false
	}, func() string {
		if g.Wait == 0 {
			return "use key=K and delay=D, with max-wait=D if there is to be one"
		}
		return ""
	})
}

func (c *Config) batch(v string) string {
	g := &Gather{Mode: Batched, Size: defaultBatchSize, Wait: defaultBatchWait, Bytes: defaultBatchBytes}
	return c.gather(g, v, func(name, value string) (wrong string, known bool) {
		n, err := strconv.ParseInt(value, 10, 64)
		switch name {
		case "size":
			if g.Size = int(n); err != nil || n < 1 || n > MaxBatchSize {
				return "use a size from 1 to " + strconv.Itoa(MaxBatchSize), true
			}
		case "bytes":
			if g.Bytes = n; err != nil || n < 1 || n > MaxBatchBytes {
				return "use bytes from 1 to " + strconv.Itoa(MaxBatchBytes), true
			}
		case "wait":
			return positive(&g.Wait, value), true
		default:
			return "", false
		}
		return "", true
	}, nil)
}

func (c *Config) singleton(v string) string {
	const rule = "use key=K and mode=skip, attach, cancel or queue"
	g := &Gather{}
	return c.gather(g, v, func(name, value string) (wrong string, known bool) {
		if name != "mode" {
			return "", false
		}
		for mode := SingletonSkip; mode < gatherModes; mode++ {
			if gatherNames[mode] == strings.ToLower(value) {
				g.Mode = mode
				return "", true
			}
		}
		return rule, true
	}, func() string {
		if !g.isSingleton() {
			return rule
		}
		return ""
	})
}

// gather reads words of the form name=value, separated by commas, of which the key is one, and judges the whole.
func (c *Config) gather(g *Gather, v string, take func(name, value string) (wrong string, known bool), judge func() string) string {
	for _, word := range split(v) {
		name, value, found := strings.Cut(word, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if found && name == "key" {
			g.Key = value
			continue
		}
		wrong, known := take(name, value)
		switch {
		case !known || !found:
			return "use NAME=VALUE, separated by commas: there is no " + name
		case wrong != "":
			return wrong
		}
	}
	switch {
	case g.Key == "" || len(g.Key) > maxGatherKey || !FitsHeader(g.Key):
		return "use key=K, of at most " + strconv.Itoa(maxGatherKey) + " bytes"
	case c.p.Gather != nil:
		return "use one of debounce, batch and singleton"
	case judge != nil:
		if wrong := judge(); wrong != "" {
			return wrong
		}
	}
	c.p.Gather, c.p.Given = g, c.p.Given|GivenGather
	return ""
}

// positive reads a duration above 0.
func positive(to *int64, v string) string {
	n, ok := ParseDuration(v)
	if !ok || n <= 0 {
		return "use a duration above 0: a number followed by s, m, h or d"
	}
	*to = n
	return ""
}

// checkGather judges what options say of other messages.
func (s *Store) checkGather(o *Options) *Error {
	g := o.Gather
	switch limit := s.settings.MaxDelay; {
	case g == nil:
		return nil
	case g.Mode >= gatherModes || g.Key == "" || len(g.Key) > maxGatherKey || g.Wait < 0 || g.MaxWait < 0:
		return invalid("invalid debounce, batch or singleton")
	case g.batches() && (g.Size < 1 || g.Size > MaxBatchSize || g.Bytes < 1 || g.Bytes > MaxBatchBytes):
		return invalid("invalid batch: a size from 1 to %d, and bytes from 1 to %d", MaxBatchSize, MaxBatchBytes)
	case g.waits() && g.Wait == 0:
		return invalid("invalid %s: it needs a time to wait", g.Mode)
	case g.waits() && o.Given&(GivenDelay|GivenNotBefore) != 0:
		return invalid("%s goes without delay and not-before: it says itself how long to wait", g.Mode)
	case g.isSingleton() && o.Queue != "":
		return invalid("singleton goes without a queue: the messages of its key are delivered one at a time")
	case limit > 0 && max(g.Wait, g.MaxWait) > limit:
		return quota("maxDelay")
	}
	return nil
}

// roomToGather refuses a publication that its level does not know, or that would be one too many behind a singleton.
func (s *Store) roomToGather(e *env.Env, p *Publication, o *Options, targets []target) *Error {
	switch {
	case e.Level < env.Files && (o.Gather != nil || o.OnFailure != DeadLetter):
		return invalid("debounce, batch, singleton and on-failure need feature level %d: upgrade all nodes", env.Files)
	case o.Gather == nil:
		return nil
	case o.Gather.Mode != SingletonQueue:
		return nil
	}
	c := Content{API: p.API, Options: *o}
	for _, t := range targets {
		c.URL, c.Group = t.url, t.group
		if no, ok := s.gathered.keys.Get(c.gatherKey()); ok && count(s.places.backlog, no) >= MaxBehind {
			return quota("maxBehindSingleton")
		}
	}
	return nil
}

// MaxBehind is the most messages, or runs, that wait behind the one of a singleton that lives: one publication may cancel all of them.
const MaxBehind = 1_000

// IsSingleton reports whether one of the key lives at a time.
func (g *Gather) IsSingleton() bool { return g.isSingleton() }

// GatherKey is a hash of what gathers: the destination, the queue and the key.
func (co *Content) GatherKey() [16]byte { return co.gatherKey() }

// gatherKey is a hash of what the messages that gather have in common: the destination, the queue and the key; those of a batch also how
// they are delivered, for whom an answer acts, what is redacted, and their credentials.
func (co *Content) gatherKey() (key dedupKey) {
	h := sha256.New()
	g := co.Gather
	kind := "singleton"
	if g.waits() {
		kind = g.Mode.String()
	}
	put(h, kind, co.URL, co.Group, co.API, co.Queue, g.Key)
	if g.batches() {
		o := co.alike()
		put(h, co.Schedule, string(wire.Marshal(&o)))
	}
	var all [sha256.Size]byte
	h.Sum(all[:0])
	return dedupKey(all[:len(key)])
}

// alike are the options that all publications of a batch share.
func (co *Content) alike() Options {
	o := co.InTrace(TraceContext{})
	o.Labels, o.Given = nil, o.Given&^(GivenLabels|GivenHeader|GivenTrace)
	o.Header = nil
	for _, f := range co.Header {
		if sameName(f.Name, "Authorization") || sameName(f.Name, "Cookie") {
			o.Header = append(o.Header, f)
		}
	}
	if o.Given&GivenRetries == 0 {
		o.Retries = 0 // the default of when it is stored
	}
	if o.Redact != nil {
		r := *o.Redact
		r.Salt, o.Redact = nil, &r
	}
	return o
}
