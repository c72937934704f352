package workflow

import (
	"encoding/base64"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// object writes one flat JSON object, byte for byte as JSON.stringify would: receivers that parse a body before they
// verify its signature write it again that way.
type object struct {
	b        []byte
	nonEmpty bool
}

func (o *object) open()  { o.b = append(o.b, '{') }
func (o *object) close() { o.b = append(o.b, '}') }

func (o *object) key(name string) {
	if o.nonEmpty {
		o.b = append(o.b, ',')
	}
	o.nonEmpty = true
	o.b = append(queue.Quote(o.b, name), ':')
}

func (o *object) number(name string, v int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) text(name, v string) {
	o.key(name)
	o.b = queue.Quote(o.b, v)
}

func (o *object) truth(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
}

// base64 writes bytes in the standard alphabet, padded.
func (o *object) base64(name string, v []byte) {
	o.key(name)
	o.b = append(base64.StdEncoding.AppendEncode(append(o.b, '"'), v), '"')
}

func (o *object) header(name string, header []queue.Field) {
	o.key(name)
	o.b = queue.HeaderJSON(o.b, header)
}
