package command

import (
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
)

// errCommitForm refuses what is no list of commands.
var errCommitForm = errors.New(`they are not a JSON array of commands, such as [["SET","key","value"]]`)

// ReadCommit reads the commands of a step or an answer, at most so many: a JSON array of arrays of strings, numbers and truth values.
func ReadCommit(text []byte, most int) ([][][]byte, error) {
	v, err := jsondoc.Parse(text)
	list, ok := v.(*jsondoc.Array)
	switch {
	case err != nil || !ok:
		return nil, errCommitForm
	case list.Len() > most:
		return nil, fmt.Errorf("there are too many. Limit: %d commands, Actual: %d. Setting: none, it is fixed", most, list.Len())
	}
	rows := make([][][]byte, list.Len())
	for i := range rows {
		words, ok := list.At(i).(*jsondoc.Array)
		if !ok || words.Len() == 0 {
			return nil, errCommitForm
		}
		for at := range words.Len() {
			switch w := words.At(at).(type) {
			case jsondoc.String:
				rows[i] = append(rows[i], []byte(w))
			case jsondoc.Bool, jsondoc.Int, jsondoc.Uint, jsondoc.Double:
				text, err := jsondoc.Text(w)
				if err != nil {
					return nil, errCommitForm
				}
				rows[i] = append(rows[i], []byte(text))
			default:
				return nil, errCommitForm
			}
		}
	}
	return rows, nil
}
