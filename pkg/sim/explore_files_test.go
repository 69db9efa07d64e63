package sim

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// savePeriod is how often a search that can be continued is stored.
const savePeriod = time.Minute

func (x *search) saveDue() bool { return x.file != "" && time.Since(x.saved) > savePeriod }

// savedSearch is the beginning of a file; the nodes follow.
type savedSearch struct {
	Program            fingerprint
	Nodes, Transitions int64
}

// save stores the search. No node is being expanded.
func (x *search) save() {
	if x.file == "" {
		return
	}
	var out bytes.Buffer
	must(binary.Write(&out, binary.LittleEndian, savedSearch{program(), int64(len(x.nodes)), int64(x.transitions)}))
	must(binary.Write(&out, binary.LittleEndian, x.nodes))
	must(os.WriteFile(x.file+".new", out.Bytes(), 0o600))
	must(os.Rename(x.file+".new", x.file))
	x.saved = time.Now()
}

// load continues a stored search of the same program; it reports whether there is one.
func (x *search) load() bool {
	x.saved = time.Now()
	data, err := os.ReadFile(x.file)
	if err != nil {
		return false
	}
	var head savedSearch
	in := bytes.NewReader(data)
	must(binary.Read(in, binary.LittleEndian, &head))
	if head.Program != program() {
		return false
	}
	x.nodes = make([]node, head.Nodes)
	must(binary.Read(in, binary.LittleEndian, x.nodes))
	for id := range x.nodes {
		x.ids[x.nodes[id].Print] = int32(id)
		if x.nodes[id].Next == unexplored {
			x.pending = append(x.pending, int32(id))
		}
	}
	x.transitions = int(head.Transitions)
	return true
}

// program identifies the code: what was explored of another one means nothing.
var program = sync.OnceValue(func() fingerprint {
	name, err := os.Executable()
	must(err)
	data, err := os.ReadFile(name)
	must(err)
	return hashOf(data)
})

// history is a file with a history, for -history.
type savedHistory struct {
	World   string
	Wrong   string
	Choices [][]int
	// Steps is what happens, for people.
	Steps []string
}

// write stores a violation, and returns the name of the file.
func (v *violation) write(dir string, s *smallWorld) (string, error) {
	h := savedHistory{World: s.name, Wrong: v.what, Steps: strings.Split(strings.TrimSpace(s.narrate(v.path)), "\n")}
	for _, step := range v.path {
		var choices []int
		for _, c := range step {
			choices = append(choices, int(c))
		}
		h.Choices = append(h.Choices, choices)
	}
	text, err := json.MarshalIndent(h, "", "  ")
	must(err)
	name := filepath.Join(dir, strings.ReplaceAll(strings.ReplaceAll(s.name, ",", ""), " ", "-")+".json")
	return name, os.WriteFile(name, text, 0o600)
}

// readHistory returns the world and the path of a stored history.
func readHistory(file string) (s *smallWorld, path [][]uint8, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	var h savedHistory
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, nil, err
	}
	for _, step := range h.Choices {
		var choices []uint8
		for _, c := range step {
			choices = append(choices, uint8(c))
		}
		path = append(path, choices)
	}
	for _, s := range smallWorlds() {
		if s.name == h.World {
			return s, path, nil
		}
	}
	return nil, nil, fmt.Errorf("there is no small world %q", h.World)
}
