package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	fidelityBlocks   = 20     // of each origin
	fidelityCommands = 50_000 // compared in a block
)

// fidelity is fidelity: blocks of random commands, each with a seed of its own, on us
// and on a redis-server.
func fidelity(ctx context.Context, s *session) error {
	compared, test := 0, filepath.Join(s.dir, "bin", "fidelity.test")
	if err := s.command(ctx, "go", "test", "-tags", testcluster.Tags, "-c", "-o", test, "./fsm/command"); err != nil {
		return err
	}
	for _, origin := range []string{"resp", "http"} {
		name := fmt.Sprintf("%s, blocks of %d", origin, fidelityCommands)
		blocks, err := repeat(s.progress, name, s.count(fidelityBlocks), func(i int) (int, error) {
			return fidelityCommands, s.commandIn(ctx, filepath.Join("fsm", "command"), "env", "TRIREME_FIDELITY=required", test, "-test.timeout=30m", "-test.v",
				"-test.run", "^TestFidelityOfRandomCommands$", "-fidelity.origin", origin, "-fidelity.commands", fmt.Sprint(fidelityCommands), "-fidelity.seed", fmt.Sprint(i+1))
		})
		if err != nil {
			return err
		}
		compared += len(blocks) * fidelityCommands
	}
	s.printf("%d replies compared, no difference that isn't explained", compared)
	return nil
}
