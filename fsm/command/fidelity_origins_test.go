package command_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/resp"
)

// served is a machine behind an origin.
type served struct {
	t      *testing.T
	engine *httpapitest.Engine
	now    int64
}

func (s *served) machine() *fsm.Machine { return s.engine.Machine }

// start makes the machine, on a clock that the steps set.
func start(t *testing.T) *served {
	s := &served{t: t, now: scripttest.Start}
	s.engine = httpapitest.NewStill(func() int64 { return s.now })
	return s
}

// tracking is an engine whose machine can tell which keys are touched.
type tracking struct{ *httpapitest.Engine }

func (t tracking) Track(on bool) { t.Machine.Track(on) }

// overRESP is a connection to the RESP port of a machine.
type overRESP struct {
	*served
	conn *realRedis // which speaks the protocol to anyone
}

func openRESP(t *testing.T) side {
	s := start(t)
	server, err := resp.New(resp.Options{Engine: tracking{s.engine}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), <-ended); err != nil {
			t.Error(err)
		}
	})
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	o := &overRESP{s, &realRedis{t: t, conn: conn, in: bufio.NewReader(conn)}}
	if v := o.conn.do([]byte("HELLO"), []byte("3"), []byte("AUTH"), []byte("default"), []byte(httpapitest.Token)); v.IsError() {
		t.Fatal(v.Text())
	}
	return o
}

func (or *overRESP) run(now int64, s *scripttest.Step) reply.Value {
	or.now = now
	return or.conn.do(s.Argv...)
}

// overHTTP is a client of a machine's HTTP gateway.
type overHTTP struct {
	*served
	url    string
	client *http.Client
	sent   int
}

func openHTTP(t *testing.T) side {
	s := start(t)
	h := &overHTTP{served: s, client: &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: time.Minute}}
	h.url = "http://" + httpapitest.Serve(t, httpapi.Options{Engine: s.engine, MaxRequestSize: httpapi.DefaultMaxRequestSize}) + "/"
	t.Cleanup(h.client.CloseIdleConnections)
	return h
}

func (h *overHTTP) run(now int64, s *scripttest.Step) reply.Value {
	h.now = now
	words := make([]string, len(s.Argv))
	for i, w := range s.Argv {
		words[i] = string(w)
	}
	v, err := h.post(words)
	if err != nil {
		h.t.Fatalf("%s: %v", s.Text, err)
	}
	return v
}

// post sends a command and reads its reply, whose strings travel in base64.
func (h *overHTTP) post(words []string) (v reply.Value, err error) {
	body, err := json.Marshal(words)
	if err != nil {
		return v, err
	}
	q, err := h.request(body)
	if err != nil {
		return v, err
	}
	q.Header.Set("Authorization", "Bearer "+httpapitest.Token)
	q.Header.Set("Svc-Encoding", "base64")
	res, err := h.client.Do(q)
	if err != nil {
		return v, err
	}
	defer res.Body.Close()
	in := io.Reader(res.Body)
	if res.Header.Get("Content-Encoding") == "gzip" {
		if in, err = gzip.NewReader(in); err != nil {
			return v, err
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return v, err
	}
	return readJSON(text)
}

// request sends bodies in turn as they are, in chunks, and compressed; every other one takes a
// compressed reply.
func (h *overHTTP) request(body []byte) (*http.Request, error) {
	in, encoding := io.Reader(bytes.NewReader(body)), ""
	switch h.sent++; h.sent % 4 {
	case 1:
		in = io.MultiReader(in) // whose length nobody knows
	case 2, 3:
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(body); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		in, encoding = io.MultiReader(&packed), "gzip"
		if h.sent%4 == 3 {
			in = &packed
		}
	}
	q, err := http.NewRequest(http.MethodPost, h.url, in)
	if err != nil {
		return nil, err
	}
	if encoding != "" {
		q.Header.Set("Content-Encoding", encoding)
	}
	if h.sent%2 == 0 {
		q.Header.Set("Accept-Encoding", "gzip")
	}
	return q, nil
}

// readJSON reads a whole reply of the gateway.
func readJSON(text []byte) (v reply.Value, err error) {
	var whole struct {
		Result any
		Error  *string
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&whole); err != nil {
		return v, fmt.Errorf("%s: %w", text, err)
	}
	switch {
	case whole.Error != nil:
		return reply.Error(*whole.Error), nil
	case whole.Result == "OK": // the one string that is never encoded
		return reply.OK(), nil
	}
	return fromJSON(whole.Result)
}

func fromJSON(from any) (v reply.Value, err error) {
	switch from := from.(type) {
	case nil:
		return reply.Nil(), nil
	case string:
		text, err := base64.StdEncoding.DecodeString(from)
		return reply.Bulk(string(text)), err
	case json.Number:
		n, err := strconv.ParseInt(string(from), 10, 64)
		return reply.Int(n), err
	case []any:
		elems := make([]reply.Value, len(from))
		for i := range from {
			if elems[i], err = fromJSON(from[i]); err != nil {
				return v, err
			}
		}
		return reply.Array(elems...), nil
	}
	return v, fmt.Errorf("%T in a reply", from)
}

// plain is a reply of RESP2 with what JSON doesn't tell apart alike: a status is a
// string. With number, texts that are numbers are compared by that value of them, because
// before 7.2 Redis printed 17 digits of each.
func plain(v reply.Value, number func(float64) float64) reply.Value {
	switch v.Kind() {
	case reply.KindStatus, reply.KindBulk:
		if number != nil {
			if f, err := strconv.ParseFloat(v.Text(), 64); err == nil {
				return reply.Number(number(f))
			}
		}
		return reply.Bulk(v.Text())
	case reply.KindArray:
		elems := make([]reply.Value, len(v.Elems()))
		for i, e := range v.Elems() {
			if elems[i] = plain(e, number); e.IsError() {
				elems[i] = reply.Bulk(e.Text()) // within a list JSON has no errors
			}
		}
		return reply.Array(elems...)
	}
	return v
}
