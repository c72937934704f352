package replication

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// example returns an append with an entry of each kind.
func example() *raft.AppendEntriesRequest {
	addr := []byte("127.0.0.1:7001")
	return &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("n1"), Addr: addr}, Leader: addr,
		Term: 7, PrevLogEntry: 41, PrevLogTerm: 6, LeaderCommitIndex: 40,
		Entries: []*raft.Log{
			{Index: 42, Term: 6, Type: raft.LogCommand, Data: []byte("set"), AppendedAt: time.Unix(1_700_000_000, 999_999_999).UTC()},
			{Index: 43, Term: 7, Type: raft.LogNoop, Data: []byte{}},
			{Index: 44, Term: 7, Type: raft.LogConfiguration, Data: bytes.Repeat([]byte{0xff}, 300), Extensions: []byte("x"), AppendedAt: time.Unix(-5, 1).UTC()},
		},
	}
}

func TestRequestRoundTrip(t *testing.T) {
	for name, q := range map[string]*raft.AppendEntriesRequest{"entries": example(), "none": {RPCHeader: raft.RPCHeader{ID: []byte{}, Addr: []byte{}}, Leader: []byte{}, Term: 1}} {
		b, err := AppendRequest(nil, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRequest(b)
		if err != nil || !reflect.DeepEqual(got, q) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, q)
		}
		for i := range b {
			if got, err := DecodeRequest(b[:i]); err == nil {
				t.Errorf("%s: the first %d of %d bytes are %+v", name, i, len(b), got)
			}
		}
		if _, err := DecodeRequest(append(b, 0)); err == nil {
			t.Errorf("%s: a byte too many is taken", name)
		}
	}
}

// TestEveryFieldIsSent fails when raft's structs get a field that the format doesn't have.
func TestEveryFieldIsSent(t *testing.T) {
	for of, want := range map[reflect.Type]int{
		reflect.TypeFor[raft.AppendEntriesRequest](): 7, reflect.TypeFor[raft.AppendEntriesResponse](): 5,
		reflect.TypeFor[raft.RPCHeader](): 3, reflect.TypeFor[raft.Log](): 6,
	} {
		if got := of.NumField(); got != want {
			t.Errorf("%v has %d fields, the format knows %d", of, got, want)
		}
	}
}

func TestEntriesFollowOneAnother(t *testing.T) {
	q := example()
	q.Entries[1].Index++
	if _, err := AppendRequest(nil, q); !errors.Is(err, errGap) {
		t.Errorf("a gap: %v", err)
	}
}

func TestResponseRoundTrip(t *testing.T) {
	want := raft.AppendEntriesResponse{Term: 300, LastLog: 1 << 40, Success: true, NoRetryBackoff: true}
	b := AppendResponse(nil, &want)
	var got raft.AppendEntriesResponse
	if err := DecodeResponse(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for i := range b {
		if DecodeResponse(b[:i], &got) == nil {
			t.Errorf("the first %d of %d bytes are an answer", i, len(b))
		}
	}
}

// FuzzRequest: an append that was read stays the same when it is encoded and read again, and takes no more memory than its bytes.
func FuzzRequest(f *testing.F) {
	b, err := AppendRequest(nil, example())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("\x03\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := DecodeRequest(b)
		if err != nil {
			return
		}
		if len(q.Entries) > len(b)/leastEntry {
			t.Fatalf("%d entries in %d bytes", len(q.Entries), len(b))
		}
		again, err := AppendRequest(nil, q)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := DecodeRequest(again); err != nil || !reflect.DeepEqual(r, q) {
			t.Fatalf("%+v is %+v when it is sent on, %v", q, r, err)
		}
	})
}

// FuzzResponse: the same for an answer.
func FuzzResponse(f *testing.F) {
	f.Add(AppendResponse(nil, &raft.AppendEntriesResponse{Term: 3, LastLog: 9, Success: true}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var a, again raft.AppendEntriesResponse
		if DecodeResponse(b, &a) != nil {
			return
		}
		if err := DecodeResponse(AppendResponse(nil, &a), &again); err != nil || !reflect.DeepEqual(a, again) {
			t.Fatalf("%+v is %+v when it is sent on, %v", a, again, err)
		}
	})
}
