package sim

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// stormFile is a scenario file that storms play.
type stormFile struct {
	name string
	// world are the arguments with which its world begins.
	world []datadriven.CmdArg
	body  []*datadriven.TestData
}

// stormFiles returns the scenario files that are one world, and that are replayed.
func stormFiles(t *testing.T) (files []stormFile) {
	names, err := filepath.Glob("testdata/scenarios/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scenario files: %v", err)
	}
	for _, name := range names {
		r := readReplay(t, name)
		if r.off == "" {
			r.run(t, trouble{}) // Settles which pods are meant.
			if file, ok := r.stormFile(filepath.Base(name)); ok {
				files = append(files, file)
			}
		}
	}
	return files
}

func (r replay) stormFile(name string) (_ stormFile, ok bool) {
	file := stormFile{name: name}
	for i, d := range r.commands {
		switch d.Cmd {
		case "status", "pods", "findings", "settle": // Storms end with a settle of their own.
		case "world":
			if i > 0 {
				return file, false
			}
			file.world = slices.DeleteFunc(slices.Clone(d.CmdArgs), func(a datadriven.CmdArg) bool { return a.Key == "seed" })
		default:
			file.body = append(file.body, r.anyName(d))
		}
	}
	return file, true
}

// anyName returns a command that names pods by their places among those of one generateName, and
// waits for them.
func (r replay) anyName(d *datadriven.TestData) *datadriven.TestData {
	out := *d
	out.Expected = ""
	out.CmdArgs = nil
	for _, arg := range d.CmdArgs {
		if len(arg.Vals) == 1 {
			if o, known := r.names[arg.Vals[0]]; known && (arg.Key == "name" || arg.Key == "pod") {
				arg = datadriven.CmdArg{Key: arg.Key, Vals: []string{fmt.Sprintf("nth:%s:%d", o.generateName, o.place)}}
				out.CmdArgs = append(out.CmdArgs, datadriven.CmdArg{Key: "wait", Vals: []string{sweepWait.String()}})
			}
		}
		out.CmdArgs = append(out.CmdArgs, arg)
	}
	return &out
}
