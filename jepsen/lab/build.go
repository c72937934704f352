package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tags are the build tags of the product.
const Tags = "nomsgpack,hashicorpmetrics"

// Root is the folder of the module that the current directory is in.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if file == "" || file == os.DevNull {
		return "", fmt.Errorf("find the module: not inside one")
	}
	return filepath.Dir(file), nil
}

// BuildOptions are what a fault run may add to the product's binary.
type BuildOptions struct {
	Race       bool // the race detector, which ends a node at the first race
	Failpoints bool // the points at which Node.Arm can end a node
	Mutants    bool // the seeded faults that the environment of a node can choose
}

func (o BuildOptions) flags() []string {
	tags := Tags
	if o.Failpoints {
		tags += ",failpoints"
	}
	if o.Mutants {
		tags += ",mutants"
	}
	flags := []string{"-tags", tags}
	if o.Race {
		flags = append(flags, "-race")
	}
	return flags
}

// Build compiles the product's binary into dir and returns its path.
func Build(dir string, o BuildOptions) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("build: %w", err)
	}
	binary, err := filepath.Abs(filepath.Join(dir, "trireme"))
	if err != nil {
		return "", fmt.Errorf("build: %w", err)
	}
	argv := append([]string{"build", "-o", binary}, o.flags()...)
	cmd := exec.Command("go", append(argv, "./cmd/trireme")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the product: %w\n%s", err, out)
	}
	return binary, nil
}
