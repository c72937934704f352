package command

import (
	"math"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// scoreDigits are the significant digits of a score, and coordinateDecimals the decimals of a
// coordinate, over RESP: enough to tell every double from its neighbours.
const (
	scoreDigits        = 17
	coordinateDecimals = 17
)

// score is a score as a reply.
func (tx *Tx) score(f float64) reply.Value { return reply.Double(f, tx.scoreText(f)) }

func (tx *Tx) scoreText(f float64) string {
	if whole := f == math.Trunc(f) && math.Abs(f) < 1e17; whole || math.IsInf(f, 0) || math.IsNaN(f) || !tx.dialect().longNumbers {
		return reply.FormatDouble(f)
	}
	return strconv.FormatFloat(f, 'g', scoreDigits, 64)
}

// coordinate is a longitude or latitude as a reply.
func (tx *Tx) coordinate(f float64) reply.Value {
	if !tx.dialect().longNumbers {
		return reply.Number(f)
	}
	text := strings.TrimRight(strconv.FormatFloat(f, 'f', coordinateDecimals, 64), "0")
	return reply.Double(f, strings.TrimSuffix(text, "."))
}
