package httpapi

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// packAbove is the size from which replies are compressed for clients that take gzip, in bytes:
// below it the saving is less than a packet.
const packAbove = 1 << 10

// Values of headers of compressed replies. They are never changed.
var (
	gzipCoding   = []string{"gzip"}
	varyCoding   = []string{"Accept-Encoding"}
	varyBoth     = []string{"Origin, Accept-Encoding"}
	takesCodings = []string{"gzip, identity"}
)

// unpacker is a body that is decoded while it is read.
type unpacker struct {
	packed io.ReadCloser
	plain  *gzip.Reader // nil before the first read
}

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// Read reads decoded bytes. A body that is no gzip is an error of the request.
func (u *unpacker) Read(p []byte) (int, error) {
	var err error
	if u.plain == nil {
		u.plain = gzipReaders.Get().(*gzip.Reader)
		if err = u.plain.Reset(u.packed); err == io.EOF {
			return 0, err // no body at all
		}
	}
	n := 0
	if err == nil {
		n, err = u.plain.Read(p)
	}
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		err = badRequest("ERR the body is not gzip, as its Content-Encoding says: " + err.Error())
	}
	return n, err
}

// Close closes the body itself.
func (u *unpacker) Close() error { return u.packed.Close() }

// recycle gives the buffers back. The body is not read after it.
func (u *unpacker) recycle() {
	if u != nil && u.plain != nil {
		gzipReaders.Put(u.plain)
		u.plain = nil
	}
}

// unpack makes the body decode while it is read: limits count the decoded bytes. Any other coding than gzip is refused
// with 415.
func (c *call) unpack() *failure {
	values, given := c.r.Header["Content-Encoding"]
	if !given {
		return nil
	}
	coding := strings.ToLower(strings.TrimSpace(strings.Join(values, ",")))
	switch coding {
	case "", "identity":
	case "gzip", "x-gzip":
		if c.r.Body != nil && c.r.ContentLength != 0 {
			c.packed = &unpacker{packed: c.r.Body}
			c.r.Body, c.r.ContentLength = c.packed, -1
		}
	default:
		c.w.Header()["Accept-Encoding"] = takesCodings
		return &failure{http.StatusUnsupportedMediaType, notApplied, "ERR Content-Encoding must be gzip or identity, got " + strconv.QuoteToASCII(coding)}
	}
	delete(c.r.Header, "Content-Encoding") // the handler's body has none
	return nil
}

// refuseCoding answers a request whose body has a coding that is not taken.
func (c *call) refuseCoding() bool {
	f := c.unpack()
	if f != nil {
		c.fail(f)
	}
	return f != nil
}

// takesGzip reports whether a client takes replies in gzip.
func takesGzip(h http.Header) bool {
	any := false
	for _, line := range h["Accept-Encoding"] {
		for part := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(part, ";")
			name = strings.TrimSpace(name)
			if named := strings.EqualFold(name, "gzip"); named || name == "*" {
				takes := !isZeroWeight(weight)
				if named {
					return takes
				}
				any = takes
			}
		}
	}
	return any
}

// isZeroWeight reports whether a weight, such as q=0.0, is zero.
func isZeroWeight(weight string) bool {
	name, value, found := strings.Cut(strings.TrimSpace(weight), "=")
	if !found {
		return false // no weight, as almost all clients send it
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return strings.EqualFold(strings.TrimSpace(name), "q") && err == nil && q == 0
}

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is one
	return w
}}

// packedWriter is a buffer that gzip writes to.
type packedWriter struct{ b []byte }

func (w *packedWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// pack returns a body as it is sent, and says so in the headers: in gzip, if the client takes
// that and it is shorter.
func (c *call) pack(body []byte) []byte {
	if len(body) < packAbove || c.r.Method == http.MethodHead || !takesGzip(c.r.Header) {
		return body
	}
	var to packedWriter
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&to)
	_, _ = z.Write(body) // a buffer takes all
	_ = z.Close()
	if len(to.b) >= len(body) {
		return body
	}
	setPacked(c.w.Header())
	return to.b
}

// setPacked says that a reply is in gzip.
func setPacked(h http.Header) {
	h["Content-Encoding"] = gzipCoding
	if h["Vary"] == nil {
		h["Vary"] = varyCoding
	} else {
		h["Vary"] = varyBoth
	}
}

// packer compresses a reply of a handler that writes it piece by piece: if it is JSON or other text, if it has no
// coding yet, and as soon as it is long enough. A reply that is flushed before that is sent as it is.
type packer struct {
	http.ResponseWriter
	z      *gzip.Writer // of a reply that is compressed
	status int
	first  []byte // what was written and is not sent yet
	plain  bool   // the reply is sent as it is
}

// packs returns the writer for a reply to c, and the function that ends the reply.
func (c *call) packs() (w http.ResponseWriter, end func()) {
	if c.r.Method == http.MethodHead || !takesGzip(c.r.Header) {
		return c.w, func() {}
	}
	p := &packer{ResponseWriter: c.w}
	return p, p.end
}

// WriteHeader sets the status.
func (p *packer) WriteHeader(status int) {
	switch {
	case p.plain:
		p.ResponseWriter.WriteHeader(status)
	case p.status == 0:
		if p.status = status; !p.suits() {
			p.passOn()
		}
	}
}

// suits reports whether a reply of this kind is compressed.
func (p *packer) suits() bool {
	h := p.Header()
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	text := kind == "application/json" || kind == "application/yaml" || strings.HasPrefix(kind, "text/") && kind != "text/event-stream"
	return text && h["Content-Encoding"] == nil && p.status >= http.StatusOK && p.status != http.StatusNoContent && p.status != http.StatusNotModified
}

// passOn sends the head, and what is held, as they are.
func (p *packer) passOn() {
	p.plain = true
	if p.status != 0 {
		p.ResponseWriter.WriteHeader(p.status)
	}
	if len(p.first) > 0 {
		_, _ = p.ResponseWriter.Write(p.first) // an error shows again in the next write
		p.first = nil
	}
}

// Write adds to the reply.
func (p *packer) Write(b []byte) (int, error) {
	if p.status == 0 {
		p.WriteHeader(http.StatusOK)
	}
	switch {
	case p.plain:
		return p.ResponseWriter.Write(b)
	case p.z != nil:
		return p.z.Write(b)
	case len(p.first)+len(b) < packAbove:
		p.first = append(p.first, b...)
		return len(b), nil
	}
	h := p.Header()
	delete(h, "Content-Length")
	setPacked(h)
	p.ResponseWriter.WriteHeader(p.status)
	p.z = gzipWriters.Get().(*gzip.Writer)
	p.z.Reset(p.ResponseWriter)
	if _, err := p.z.Write(p.first); err != nil {
		return 0, err
	}
	p.first = nil
	return p.z.Write(b)
}

// FlushError sends what was written.
func (p *packer) FlushError() error {
	if p.z == nil && !p.plain {
		p.passOn()
	}
	if p.z != nil {
		if err := p.z.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// end sends the rest of a complete reply.
func (p *packer) end() {
	switch {
	case p.z != nil:
		_ = p.z.Close() // an error means that the client has gone
		gzipWriters.Put(p.z)
		p.z = nil
	case !p.plain:
		p.passOn()
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (p *packer) Unwrap() http.ResponseWriter { return p.ResponseWriter }
