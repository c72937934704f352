package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxBackupWindow bounds what the head of a compressed backup may make the decoder allocate, in bytes.
const maxBackupWindow = 64 << 20

// newPacker compresses what is written to it into w. With one worker it starts no goroutines.
func newPacker(w io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
}

// newUnpacker returns what a packer was given. The bytes follow from the format alone, so that nodes of different
// versions read the same; with one worker it starts no goroutines. It has to be closed.
func newUnpacker(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxBackupWindow))
}

// pieceWriter cuts a stream into pieces.
type pieceWriter struct {
	w   io.Writer
	buf []byte // the length and the bytes of the piece that is filling
}

func newPieceWriter(w io.Writer) *pieceWriter {
	return &pieceWriter{w: w, buf: make([]byte, 4, 4+backupPiece)}
}

// Write adds to the stream.
func (pw *pieceWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		k := min(len(b), 4+backupPiece-len(pw.buf))
		pw.buf = append(pw.buf, b[:k]...)
		b = b[k:]
		if len(pw.buf) == cap(pw.buf) {
			if err := pw.flush(); err != nil {
				return n, err
			}
		}
		n += k
	}
	return n, nil
}

func (pw *pieceWriter) flush() error {
	binary.LittleEndian.PutUint32(pw.buf, uint32(len(pw.buf)-4))
	_, err := pw.w.Write(pw.buf)
	pw.buf = pw.buf[:4]
	return err
}

// end writes what is left, and the piece that says that none follows.
func (pw *pieceWriter) end() error {
	if len(pw.buf) > 4 {
		if err := pw.flush(); err != nil {
			return err
		}
	}
	return pw.flush()
}

// errPiece says that no piece is as long.
var errPiece = errors.New("impossible length of a piece")

// pieceReader returns the stream that a pieceWriter has cut, and then io.EOF.
type pieceReader struct {
	r     io.Reader
	left  int // of the piece
	ended bool
}

// Read returns the next bytes of the stream.
func (pr *pieceReader) Read(b []byte) (int, error) {
	if pr.left == 0 && !pr.ended {
		if err := pr.next(); err != nil {
			return 0, err
		}
	}
	if pr.ended {
		return 0, io.EOF
	}
	n, err := pr.r.Read(b[:min(len(b), pr.left)])
	pr.left -= n
	return n, cut(err)
}

func (pr *pieceReader) next() error {
	var head [4]byte
	if _, err := io.ReadFull(pr.r, head[:]); err != nil {
		return cut(err)
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > backupPiece {
		return fmt.Errorf("%w: %d bytes", errPiece, n)
	}
	pr.left, pr.ended = int(n), n == 0
	return nil
}

// cut converts the error of a file that ends too early: no decoder may take that for its regular end.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
