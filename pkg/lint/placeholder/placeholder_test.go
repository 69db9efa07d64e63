package placeholder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: LNT-08
func TestPlaceholdersAreFoundWhereNothingReplacesThem(t *testing.T) {
	for value, want := range map[string]string{
		"${IMAGE}": "${IMAGE} 0", "registry/${IMAGE:-app}:1": "${IMAGE:-app} 0", "$IMAGE": "$IMAGE 0", "a-$SHA": "$SHA 0", "$(IMAGE)": "$(IMAGE) 1",
		"gcr.io/YOUR_PROJECT/app": "YOUR_PROJECT 2", "<your-image>": "<your-image> 2", "REPLACE_ME": "REPLACE_ME 2", "changeme": "changeme 2", "CHANGE-ME": "CHANGE-ME 2",
		"__TAG__": "__TAG__ 2", "@VERSION@": "@VERSION@ 2", "app:TODO": "TODO 2", "{{ .Values.image }}": "{{ .Values.image }} 3", "{{ image }}:{% tag %}": "{{ image }} 3", "<%= image %>": "<%= image %> 3",
		"app": "", "app:1.2@sha256:ab": "", "app$": "", "a__b": "", "@daily": "", "your": "", "replacement": "", "replace-certificates": "", "exchange-me": "", "price-5$": "", "$5": "",
	} {
		got := ""
		for _, f := range Find(map[string]any{"image": value}) {
			got += fmt.Sprintf("%s %d", f.Text, f.Kind)
		}
		assert.Equal(t, got, want, value)
	}
}

// Requirements: LNT-08
func TestPlaceholdersAreLeftToWhatReplacesThem(t *testing.T) {
	text := "${A}"
	container := map[string]any{
		"name": text, "command": []any{text}, "args": []any{text}, "env": []any{map[string]any{"name": text, "value": text}}, "resources": map[string]any{"limits": map[string]any{"memory": text}},
		"volumeMounts": []any{map[string]any{"subPathExpr": text, "subPath": text}},
	}
	var got []string
	for _, f := range Find(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"a": text}, "labels": map[string]any{"a/b.c": text}}, "containers": []any{container},
	}) {
		got = append(got, f.Path)
	}
	want := "containers[0].env[0].name containers[0].name containers[0].resources.limits[memory] containers[0].volumeMounts[0].subPath metadata.labels[a/b.c]"
	assert.Equal(t, strings.Join(got, " "), want)
}
