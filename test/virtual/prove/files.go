package prove

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// savePeriod is how often a search that can be continued is stored.
const savePeriod = time.Minute

func (x *search) saveDue() bool { return x.file != "" && time.Since(x.saved) > savePeriod }

// savedSearch is the header of a file; the nodes follow it.
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
	scenario.Must(binary.Write(&out, binary.LittleEndian, savedSearch{program(), int64(len(x.nodes)), int64(x.transitions)}))
	scenario.Must(binary.Write(&out, binary.LittleEndian, x.nodes))
	scenario.Must(os.WriteFile(x.file+".new", out.Bytes(), 0o600))
	scenario.Must(os.Rename(x.file+".new", x.file))
	x.saved = time.Now()
}

// load continues a stored search of the same program, and reports whether it found one.
func (x *search) load() bool {
	x.saved = time.Now()
	data, err := os.ReadFile(x.file)
	if err != nil {
		return false
	}
	var head savedSearch
	in := bytes.NewReader(data)
	scenario.Must(binary.Read(in, binary.LittleEndian, &head))
	if head.Program != program() {
		return false
	}
	x.nodes = make([]node, head.Nodes)
	scenario.Must(binary.Read(in, binary.LittleEndian, x.nodes))
	for id := range x.nodes {
		x.ids[x.nodes[id].Print] = int32(id)
		if x.nodes[id].Next == unexplored {
			x.pending = append(x.pending, int32(id))
		}
	}
	x.transitions = int(head.Transitions)
	return true
}

// program identifies the code: a search of a different program is worthless.
var program = sync.OnceValue(func() fingerprint {
	name, err := os.Executable()
	scenario.Must(err)
	data, err := os.ReadFile(name)
	scenario.Must(err)
	return hashOf(data)
})
