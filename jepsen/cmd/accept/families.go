package main

import (
	"context"
	"fmt"
	"path/filepath"

	"trireme/jepsen/lab"
)

const (
	fidelityBlocks   = 20     // of each door
	fidelityCommands = 50_000 // compared in a block
)

// fidelity is families.2: blocks of random commands, each with a seed of its own, on us
// and on a redis-server.
func fidelity(ctx context.Context, s *session) error {
	compared, test := 0, filepath.Join(s.dir, "bin", "fidelity.test")
	if err := s.command(ctx, "go", "test", "-tags", lab.Tags, "-c", "-o", test, "./fsm/command"); err != nil {
		return err
	}
	for _, door := range []string{"resp", "http"} {
		name := fmt.Sprintf("%s, blocks of %d", door, fidelityCommands)
		blocks, err := repeat(s.progress, name, s.count(fidelityBlocks), func(i int) (int, error) {
			return fidelityCommands, s.commandIn(ctx, filepath.Join("fsm", "command"), "env", "TRIREME_FIDELITY=required", test, "-test.timeout=30m", "-test.v",
				"-test.run", "^TestFidelityOfRandomCommands$", "-fidelity.door", door, "-fidelity.commands", fmt.Sprint(fidelityCommands), "-fidelity.seed", fmt.Sprint(i+1))
		})
		if err != nil {
			return err
		}
		compared += len(blocks) * fidelityCommands
	}
	s.printf("%d replies compared, no difference that isn't explained", compared)
	return nil
}
