package storm

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// stormFile is a scenario file that storms play.
type stormFile struct {
	name string
	// world holds the arguments of the file's world command.
	world []datadriven.CmdArg
	body  []*datadriven.TestData
}

// stormFiles returns the scenario files that consist of one world and may be replayed.
func stormFiles(t *testing.T) (files []stormFile) {
	for _, name := range scenario.Files(t, "../../../pkg/sim/testdata/scenarios") {
		r := scenario.ReadReplay(t, name)
		if r.Off == "" {
			r.Run(t, scenario.Trouble{}) // Determines the places of the named pods.
			if file, ok := stormFileOf(r, filepath.Base(name)); ok {
				files = append(files, file)
			}
		}
	}
	return files
}

func stormFileOf(r scenario.Replay, name string) (_ stormFile, ok bool) {
	file := stormFile{name: name}
	for i, d := range r.Commands {
		switch d.Cmd {
		case "status", "pods", "findings", "settle": // Storms end with a settle of their own.
		case "world":
			if i > 0 {
				return file, false
			}
			file.world = slices.DeleteFunc(slices.Clone(d.CmdArgs), func(a datadriven.CmdArg) bool { return a.Key == "seed" })
		default:
			file.body = append(file.body, anyName(r, d))
		}
	}
	return file, true
}

// anyName returns a command that names pods by their place within their generateName, and waits for them.
func anyName(r scenario.Replay, d *datadriven.TestData) *datadriven.TestData {
	out := *d
	out.Expected = ""
	out.CmdArgs = nil
	for _, arg := range d.CmdArgs {
		if len(arg.Vals) == 1 {
			if o, known := r.Names[arg.Vals[0]]; known && (arg.Key == "name" || arg.Key == "pod") {
				arg = datadriven.CmdArg{Key: arg.Key, Vals: []string{fmt.Sprintf("nth:%s:%d", o.GenerateName, o.Place)}}
				out.CmdArgs = append(out.CmdArgs, datadriven.CmdArg{Key: "wait", Vals: []string{scenario.SweepWait.String()}})
			}
		}
		out.CmdArgs = append(out.CmdArgs, arg)
	}
	return &out
}
