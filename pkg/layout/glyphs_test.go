package layout

import "testing"

func TestToASCIIReplacesEachMark(t *testing.T) {
	const text, want = "exit 1 ×3 · “no space”…", `exit 1 x3 - "no space"...`
	if got := ToASCII(Of(Text(Warn, text))).String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
