package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
)

// freeDisk is the value of --min-free-disk: a size, or a percentage of the disk.
type freeDisk logstore.Floor

func (d *freeDisk) Type() string { return "size" }

// String returns the value in the form that Set parses; the default is "".
func (d *freeDisk) String() string {
	switch {
	case d.Bytes != 0:
		b := byteSize(d.Bytes)
		return b.String()
	case d.Share != 0:
		return strconv.FormatFloat(d.Share*100, 'g', -1, 64) + "%"
	}
	return ""
}

// Set parses a size such as 2GiB, or a percentage such as 5%. "" selects the default. Zero is refused: a node that stops on a
// full disk needs some space to end in order.
func (d *freeDisk) Set(text string) error {
	*d = freeDisk{}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if percent, is := strings.CutSuffix(text, "%"); is {
		share, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if err != nil || !(share > 0 && share <= 90) {
			return fmt.Errorf("%q is not a percentage above 0 and up to 90", text)
		}
		d.Share = share / 100
		return nil
	}
	var b byteSize
	if err := b.Set(text); err != nil {
		return fmt.Errorf("%q is neither a size such as 2GiB nor a percentage such as 5%%", text)
	}
	if b == 0 {
		return fmt.Errorf("%q leaves no free space: use at least 1 byte", text)
	}
	d.Bytes = uint64(b)
	return nil
}
