package httpapi

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi/redis"
	"github.com/trireme-dev/trireme/node/pubsub"
)

const (
	// followed is the most entries of a stream that one read returns.
	followed = 100
	// followedBytes is about how much memory one read takes, unless one entry alone takes more.
	followedBytes = 1 << 20
	// longestWait bounds how long a read of a stream waits for its first entry.
	longestWait = time.Minute
)

var errFollow = badRequest("ERR use /follow/KEY or /follow/KEY/ID, with ?wait=DURATION of at most 1m for a reply instead of a stream of events")

// follow answers with the entries of a stream behind an id, as they come: as server-sent events, or, if the query has wait, as one reply
// as soon as there is one, null if none comes in that time.
func (c *call) follow(argv [][]byte) {
	if len(argv) < 2 || len(argv) > 3 {
		c.fail(errFollow)
		return
	}
	after := "$"
	if last := c.r.Header.Get("Last-Event-ID"); last != "" {
		after = last
	} else if len(argv) == 3 {
		after = string(argv[2])
	}
	wait, waits, ok := waitOf(c.query)
	if !ok {
		c.fail(errFollow)
		return
	}
	if c.s.hub == nil {
		c.fail(errNoStreams)
		return
	}
	c.rows = append(c.rows[:0], readEntries(argv[1], after, followed))
	if !c.count() { // as one command, however many entries follow
		return
	}
	f := &entries{Follower: c.s.hub.Follow(c.database(), string(argv[1])), c: c, key: argv[1], after: after}
	defer f.Close()
	f.Again()
	if why := f.begin(); why != nil {
		c.fail(why)
		return
	}
	if waits {
		c.replyEntries(f, wait)
		return
	}
	if c.r.Method == http.MethodHead {
		c.beginStream(http.NewResponseController(c.w))
		return
	}
	c.pump(f)
}

// waitOf is the time that the query says to wait.
func waitOf(query string) (wait time.Duration, given, ok bool) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, false, false
	}
	text := values.Get("wait")
	if text == "" {
		return 0, false, true
	}
	ms, ok := queue.ParseDuration(text)
	wait = time.Duration(ms) * time.Millisecond
	return wait, true, ok && wait <= longestWait
}

// entries is a feed of the entries of a stream.
type entries struct {
	*pubsub.Follower
	c     *call
	key   []byte
	after string // the id of the last entry that was sent
}

// readEntries is the command that reads so many of the entries after an id.
func readEntries(key []byte, after string, count int) [][]byte {
	return [][]byte{[]byte("XREAD"), []byte("COUNT"), []byte(strconv.Itoa(count)), []byte("STREAMS"), key, []byte(after)}
}

// begin reads from a state that has everything acknowledged so far, which also turns $ into an id.
func (en *entries) begin() (f *failure) {
	_, err := en.c.s.engine.Read(en.c.r.Context(), en.c.reading, func(v *fsm.View) {
		f = nil
		if en.c.identify(v); en.c.as.By == acl.Nobody {
			f = errToken
			return
		}
		if _, refusal := v.Check(en.c.as, command.OriginHTTP, readEntries(en.key, en.after, 1)); refusal != nil {
			f = badRequest(refusal.Text())
			return
		}
		if en.after == "$" { // what is there is behind us
			en.after = lastID(v.Exec(en.c.as, command.OriginHTTP, [][]byte{[]byte("XREVRANGE"), en.key, []byte("+"), []byte("-"), []byte("COUNT"), []byte("1")}))
		}
	})
	if err != nil {
		return failureOf(err, false)
	}
	return f
}

// lastID is the id of the first entry of a reply of XREVRANGE, that before all if there is none.
func lastID(v reply.Value) string {
	if list := v.Elems(); len(list) > 0 {
		return list[0].Elems()[0].Text()
	}
	return "0-0"
}

// next reads the entries that follow, fewer at a time if they are large, and counts the memory that they take until the next call. An error
// is a refusal.
func (en *entries) next() (list []reply.Value, refusal *reply.Value, f *failure) {
	if f = en.c.holdPiece(0); f != nil {
		return nil, nil, f
	}
	var out reply.Value
	for count := followed; ; count /= 2 {
		en.c.rows = append(en.c.rows[:0], readEntries(en.key, en.after, count))
		en.c.s.engine.Local(func(v *fsm.View) {
			en.c.values = en.c.values[:0]
			en.c.runRows(v)
			out = en.c.values[0]
		})
		if count == 1 || en.c.replyBytes <= followedBytes {
			break
		}
	}
	if out.IsError() {
		return nil, &out, nil
	}
	if keyed := out.Elems(); len(keyed) == 2 { // the key and its entries
		list = keyed[1].Elems()
	}
	if n := len(list); n > 0 {
		en.after = list[n-1].Elems()[0].Text()
		en.Again() // there may be more; a look that finds nothing costs little
	}
	return list, nil, en.c.holdPiece(en.c.replyBytes)
}

// append appends the events of the entries that have come.
func (en *entries) append(dst []byte) ([]byte, error) {
	if err := en.Err(); err != nil {
		return dst, err
	}
	list, refusal, f := en.next()
	switch {
	case f != nil:
		return dst, f
	case refusal != nil:
		return dst, badRequest(refusal.Text())
	}
	for _, e := range list {
		dst = redis.AppendEntry(dst, e.Elems()[0].Text(), e)
	}
	return dst, nil
}

// replyEntries answers with the entries that have come within a time.
func (c *call) replyEntries(f *entries, wait time.Duration) {
	over := time.NewTimer(wait)
	defer over.Stop()
	c.release() // as for streams: the limit is for requests that come to an end by themselves
	c.counted = false
	for {
		ended := false
		select {
		case <-f.Wake():
		case <-over.C:
			ended = true
		case <-c.r.Context().Done():
			return
		case <-c.s.stopping:
			c.fail(failureOf(fsm.ErrStopping, false))
			return
		}
		if why := f.Err(); why != nil {
			c.fail(streamFailure(why))
			return
		}
		if why := c.recheckStream(f); why != nil {
			c.fail(failureOf(why, false))
			return
		}
		list, refusal, exceeded := f.next()
		switch {
		case exceeded != nil:
			c.fail(exceeded)
			return
		case refusal != nil:
			c.answer(*refusal)
			return
		case len(list) > 0:
			c.answer(reply.Array(list...))
			return
		case ended:
			c.answer(reply.Nil())
			return
		}
	}
}
