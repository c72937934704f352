package messagesfile

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// maxLine is the most bytes of a line. The largest message has 48 MiB: as text it takes at most twice that, in base64 a third
// more, and it is in a line once as each.
const maxLine = 256 << 20

// ErrFile says that a file is damaged, cut short, or none of messages.
var ErrFile = errors.New("this is not a complete file of messages")

// Read reads a file to its end, gives each record to emit, and compares the sum. An error of emit is returned as it is;
// every other one is an ErrFile, or that of r. What was emitted before an error must not be used.
func Read(r io.Reader, emit func(store fsm.RecordStore, record []byte) error) (h Head, records int, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	if !in.Scan() {
		return h, 0, failed(in, 1, "it is empty")
	}
	if json.Unmarshal(in.Bytes(), &h) != nil || h.Kind != headKind {
		return h, 0, fmt.Errorf("%w: its first line is not of the kind %s", ErrFile, headKind)
	}
	if h.Format != Format {
		return h, 0, fmt.Errorf("%w: it has format %d and was written by version %s; this version reads format %d", ErrFile, h.Format, h.Version, Format)
	}
	sum := sha256.New()
	for in.Scan() {
		var l struct {
			end
			Record []byte `json:"record"`
		}
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return h, records, fmt.Errorf("%w: line %d: %w", ErrFile, records+2, err)
		}
		if l.Kind == endKind {
			return h, records, finish(in, l.end, records, hex.EncodeToString(sum.Sum(nil)))
		}
		store, err := storeOf(l.Kind, l.Record)
		if err != nil {
			return h, records, fmt.Errorf("%w: line %d: %w", ErrFile, records+2, err)
		}
		records++
		sum.Write(fsm.AppendRecord(nil, store, l.Record))
		if err := emit(store, l.Record); err != nil {
			return h, records, err
		}
	}
	return h, records, failed(in, records+2, "it has no last line, so it was cut short")
}

// failed is why there is no line of that number.
func failed(in *bufio.Scanner, line int, reason string) error {
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%w: line %d is longer than %d bytes", ErrFile, line, maxLine)
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: %s", ErrFile, reason)
}

// finish compares the last line with what was read.
func finish(in *bufio.Scanner, e end, records int, sum string) error {
	switch {
	case records == 0:
		return fmt.Errorf("%w: it has no record", ErrFile)
	case e.Records != records:
		return fmt.Errorf("%w: its last line counts %d records, it has %d", ErrFile, e.Records, records)
	case e.SHA256 != sum:
		return fmt.Errorf("%w: the sum of its records is %s, its last line says %s", ErrFile, sum, e.SHA256)
	case in.Scan():
		return fmt.Errorf("%w: lines follow the last one", ErrFile)
	}
	return in.Err()
}

// storeOf returns the store of a line's record. It fails if the record is not of the line's kind.
func storeOf(kind string, record []byte) (fsm.RecordStore, error) {
	switch {
	case kind == "":
		return 0, errors.New("it has no kind")
	case queue.RecordKind(record) == kind:
		return fsm.OfMessages, nil
	case workflow.RecordKind(record) == kind:
		return fsm.OfWorkflows, nil
	}
	return 0, fmt.Errorf("its record is not of the kind %q", kind)
}
