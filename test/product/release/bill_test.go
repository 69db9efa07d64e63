//go:build release

package release

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 7, point 4: the bill of materials of each binary lists all its modules, Go itself, and the licenses that were
// found.
func TestBillsOfMaterialsListAllModules(t *testing.T) {
	for _, p := range platforms() {
		var bill struct {
			BomFormat string
			Metadata  struct {
				Timestamp string
				Component struct{ Name, Version string }
			}
			Components []struct {
				Name, Version, Purl string
				Evidence            struct{ Licenses []any }
			}
		}
		assert.NoError(t, json.Unmarshal([]byte(contents(t, "dist", p.bill())), &bill), p.bill())
		const module = "github.com/batchjob-dev/kubectl-batchjob"
		if c := bill.Metadata.Component; bill.BomFormat != "CycloneDX" || c.Name != module || c.Version != "v"+made.Version {
			t.Errorf("%s: a %s of %s %s", p, bill.BomFormat, c.Name, c.Version)
		}
		if bill.Metadata.Timestamp != "" {
			t.Errorf("%s: the bill has the time %s, and differs with each build", p, bill.Metadata.Timestamp)
		}
		listed, licensed := map[string]bool{}, 0
		for _, c := range bill.Components {
			listed[c.Name+" "+c.Version] = strings.HasPrefix(c.Purl, "pkg:golang/")
			if len(c.Evidence.Licenses) > 0 {
				licensed++
			}
		}
		info, err := buildinfo.Read(bytes.NewReader(unpacked(t, p)[p.binary()].data))
		assert.NoError(t, err)
		for _, dep := range info.Deps {
			if !listed[dep.Path+" "+dep.Version] {
				t.Errorf("%s: the bill lacks %s %s", p, dep.Path, dep.Version)
			}
		}
		if !listed["std "+info.GoVersion] {
			t.Errorf("%s: the bill lacks the standard library of %s", p, info.GoVersion)
		}
		if licensed < len(info.Deps)*9/10 {
			t.Errorf("%s: the licenses of only %d of %d modules are told", p, licensed, len(info.Deps))
		}
	}
}
