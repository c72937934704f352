package mutant

// PoisonWord is the key that Poison ends processes at.
const PoisonWord = "poison"

// Poison ends the process at a write whose first argument is the key PoisonWord, as no fault of a release does that can be
// caught. It is no fault for checkers to find, and none of All: the acceptance run "poison" rehearses with it what
// operators do then.
var Poison = Fault{
	"poison-key",
	"a write to one key kills the process that applies it",
	[]Edit{
		{
			"fsm/exec.go",
			`	"fmt"

	"github.com`,
			`	"fmt"
	"os"
	"syscall"

	"github.com`,
		},
		{
			"fsm/exec.go",
			`		tx.Row, tx.Scripted = i, (tx.Monitors() `,
			`		if len(row) > 1 && string(row[1]) == "` + PoisonWord + `" {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		tx.Row, tx.Scripted = i, (tx.Monitors() `,
		},
	},
}
