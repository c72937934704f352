package testcluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/trireme-dev/trireme/jepsen/mutant"
)

// Tags are the build tags of the product.
const Tags = "nomsgpack"

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

// BuildOptions select additions to the product's binary for a fault run.
type BuildOptions struct {
	Race       bool // the race detector, which ends a node at the first race
	Failpoints bool // the points at which Node.Arm can end a node
	Next       bool // a feature level above that of the code: it stands for the next version

	// Fault is a seeded fault that the product is given; nil is none.
	Fault *mutant.Fault
}

func (o BuildOptions) flags() []string {
	tags := Tags
	if o.Failpoints {
		tags += ",failpoints"
	}
	if o.Next {
		tags += ",nextlevel"
	}
	flags := []string{"-tags", tags}
	if o.Race {
		flags = append(flags, "-race")
	}
	return flags
}

// Build compiles the product's binary into dir and returns its path.
func Build(dir string, o BuildOptions) (string, error) {
	return BuildProgram(dir, "./cmd/trireme", o)
}

// BuildProgram compiles a program of the module, a folder like ./jepsen/cmd/simsearch, into dir and returns its path.
func BuildProgram(dir, program string, o BuildOptions) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("build: %w", err)
	}
	binary, err := filepath.Abs(filepath.Join(dir, filepath.Base(program)))
	if err != nil {
		return "", fmt.Errorf("build: %w", err)
	}
	return binary, compile(root, binary, program, o)
}

// BuildOf compiles the product's binary of a commit, which may be named by a tag, into dir and returns its path.
func BuildOf(commit, dir string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	source, err := filepath.Abs(filepath.Join(dir, "source"))
	if err != nil {
		return "", fmt.Errorf("build %s: %w", commit, err)
	}
	if err := errors.Join(os.RemoveAll(source), os.MkdirAll(source, 0o755)); err != nil {
		return "", fmt.Errorf("build %s: %w", commit, err)
	}
	archive := exec.Command("git", "archive", "--format", "tar", "-o", source+".tar", commit)
	archive.Dir = root
	unpack := exec.Command("tar", "-x", "-f", source+".tar", "-C", source)
	for _, cmd := range []*exec.Cmd{archive, unpack} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("unpack %s: %w\n%s", commit, err, out)
		}
	}
	binary := filepath.Join(filepath.Dir(source), "trireme")
	return binary, compile(source, binary, "./cmd/trireme", BuildOptions{})
}

// compile builds a program of the module from the source in root.
func compile(root, binary, program string, o BuildOptions) error {
	argv := append([]string{"build", "-buildvcs=false", "-o", binary}, o.flags()...)
	if o.Fault != nil {
		overlay, err := o.Fault.Overlay(root, filepath.Dir(binary))
		if err != nil {
			return err
		}
		argv = append(argv, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(argv, program)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	return nil
}
