package workflow

import (
	"encoding/base64"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// object writes one flat JSON object, byte for byte as JSON.stringify would: receivers that parse a body before they
// verify its signature write it again that way.
type object struct {
	b    []byte
	some bool
}

func (j *object) open()  { j.b = append(j.b, '{') }
func (j *object) close() { j.b = append(j.b, '}') }

func (j *object) key(name string) {
	if j.some {
		j.b = append(j.b, ',')
	}
	j.some = true
	j.b = append(queue.Quote(j.b, name), ':')
}

func (j *object) number(name string, v int64) {
	j.key(name)
	j.b = strconv.AppendInt(j.b, v, 10)
}

func (j *object) text(name, v string) {
	j.key(name)
	j.b = queue.Quote(j.b, v)
}

func (j *object) truth(name string, v bool) {
	j.key(name)
	j.b = strconv.AppendBool(j.b, v)
}

// base64 writes bytes in the standard alphabet, padded.
func (j *object) base64(name string, v []byte) {
	j.key(name)
	j.b = append(base64.StdEncoding.AppendEncode(append(j.b, '"'), v), '"')
}

func (j *object) header(name string, header []queue.Field) {
	j.key(name)
	j.b = queue.HeaderJSON(j.b, header)
}
