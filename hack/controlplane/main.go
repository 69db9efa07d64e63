//go:build unix

// Command controlplane builds a real Kubernetes control plane from Go modules and runs it, with simulated nodes (kwok),
// for tests and demos:
//
//	go -C hack/controlplane run . build   # etcd, kube-apiserver, … into a cache folder
//	go -C hack/controlplane run . path    # where they are
//	go -C hack/controlplane run . up      # a cluster in .cluster/ of the project
//	go -C hack/controlplane run . down    # … and nothing of it is left
//
// With KUBE_VERSION=v1.33.13 in the environment, build, path and up use that release of Kubernetes.
//
// It imports only the standard library, so that it starts at once although its module requires all of Kubernetes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

const usage = `Usage: go -C hack/controlplane run . <verb>

  build [--for PURPOSE]       build the binaries once, into the user's cache folder
  path [--for PURPOSE]        print the folder that holds them
  up [--nodes N] [--dir DIR]  start a cluster; its kubeconfig is DIR/kubeconfig
     [--for all|demo]
     [--feature-gates LIST]   for the API server and Kubernetes' own controllers
     [--audit USER]           and write each request of that user, and each change of a pod, to DIR/audit.log;
                              '*' for only the writes of pods, Jobs and their statuses, by all users
  down [--dir DIR]            stop it and remove its state
  alone LOCK COMMAND …        run a command when no other one with the same lock file runs

PURPOSE is all (everything, and the same on each machine), or one that takes as little time as
possible and uses binaries that are there: demo, or test (what make test-integration needs). These are
KUBEBUILDER_ASSETS, those of setup-envtest, kwok's in PATH, and archives that are downloaded and
verified, unless CONTROLPLANE_DOWNLOAD is off. The rest is built.
KUBE_VERSION=v1.33.13 in the environment makes it another release of Kubernetes.
DIR is .cluster in the project unless given; a relative DIR starts at the project's root.
`

// errUsage means that the error has already been reported to the user.
var errUsage = errors.New("usage")

func main() { os.Exit(exitCode(os.Args[1:])) }

func exitCode(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(args) > 0 && args[0] == "alone" {
		return exitOf(ctx, runAlone(ctx, args[1:]))
	}
	return exitOf(ctx, run(ctx, args))
}

// exitOf reports an error, and returns the exit code.
func exitOf(ctx context.Context, err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "\ninterrupted")
		return 130
	case errors.Is(err, errUsage):
		return 2
	}
	if exit := (*aloneError)(nil); errors.As(err, &exit) {
		return exit.code // The command has reported its error.
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 1
}

// runAlone runs a command while it holds the lock on a file.
func runAlone(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return usageError("alone takes a file and a command")
	}
	err := alone(ctx, args[0], args[1:])
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return &aloneError{exit.ExitCode()}
	}
	return err
}

// aloneError is the exit code of a command that failed.
type aloneError struct{ code int }

func (e *aloneError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	source, err := findSource()
	if err != nil {
		return err
	}
	if !filepath.IsAbs(o.dir) {
		// `go -C` changes the directory, so a path relative to it would be surprising.
		o.dir = filepath.Join(filepath.Dir(filepath.Dir(source)), o.dir)
	}
	if o.verb == "down" {
		return newCluster(o.dir, "").down(ctx)
	}
	other, err := parseRelease(os.Getenv("KUBE_VERSION"))
	if err != nil {
		return err
	}
	if other != nil {
		o.purpose = forAll
	}
	b, err := newBuilder(source, o.purpose)
	if err == nil {
		b, err = b.forRelease(other)
	}
	if err != nil {
		return err
	}
	if o.verb == "path" {
		fmt.Println(b.bin)
		return nil
	}
	if err := b.build(ctx); err != nil || o.verb == "build" {
		return err
	}
	c := newCluster(o.dir, b.bin)
	c.audited, c.release, c.gates = o.audit, other, o.gates
	return c.up(ctx, o.nodes)
}

// options are the options on the command line.
type options struct {
	verb    string
	purpose purpose
	dir     string
	nodes   int
	gates   string // feature gates, as on a command line
	audit   string // a user
}

func parse(args []string) (options, error) {
	if len(args) == 0 {
		return options{}, usageError("")
	}
	o := options{verb: args[0], purpose: forAll, dir: ".cluster", nodes: 5}
	flags := flag.NewFlagSet(o.verb, flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	if o.verb != "down" {
		flags.Func("for", "", o.setPurpose)
	}
	switch o.verb {
	case "up":
		flags.IntVar(&o.nodes, "nodes", o.nodes, "")
		flags.StringVar(&o.gates, "feature-gates", "", "")
		flags.StringVar(&o.audit, "audit", "", "")
		flags.StringVar(&o.dir, "dir", o.dir, "")
	case "down":
		flags.StringVar(&o.dir, "dir", o.dir, "")
	case "build", "path":
	case "help", "-h", "--help":
		fmt.Print(usage)
		return o, flag.ErrHelp
	default:
		return o, usageError(fmt.Sprintf("unknown verb %q", o.verb))
	}
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err != nil:
		return o, errUsage
	case flags.NArg() > 0:
		return o, usageError(fmt.Sprintf("%s takes no argument %q", o.verb, flags.Arg(0)))
	case o.nodes < 1:
		return o, usageError(fmt.Sprintf("--nodes must be 1 or more, not %d", o.nodes))
	}
	return o, nil
}

// setPurpose parses --for.
func (o *options) setPurpose(value string) error {
	o.purpose = purpose(value)
	if _, known := needed[o.purpose]; !known || o.verb == "up" && o.purpose == forTest {
		return errors.New("it is all, demo or test (which up cannot start)")
	}
	return nil
}

func usageError(problem string) error {
	if problem != "" {
		fmt.Fprintf(os.Stderr, "%s\n\n", problem)
	}
	fmt.Fprint(os.Stderr, usage)
	return errUsage
}

// findSource returns this module's directory, from any directory of the project.
func findSource() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		for _, source := range []string{dir, filepath.Join(dir, "hack", "controlplane")} {
			if exists(filepath.Join(source, "cmd", "kube-apiserver", "main.go")) && exists(filepath.Join(source, "go.mod")) {
				return source, nil
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the project: run it as `go -C hack/controlplane run .` from the project's root")
		}
		dir = parent
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
