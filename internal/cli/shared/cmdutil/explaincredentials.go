package cmdutil

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// explainCredentials explains why the credential plugin of the kubeconfig's user returned no credentials; nil for other errors.
// client-go's errors have no types.
func explainCredentials(err error) *UserError {
	failed, is := errors.AsType[*url.Error](err)
	if !is {
		return nil
	}
	_, why, found := strings.Cut(failed.Err.Error(), "getting credentials: ")
	if !found {
		return nil
	}
	why, advice, _ := strings.Cut(why, "\n")
	why, _, _ = strings.Cut(strings.TrimPrefix(why, "exec: "), parseDetails)
	hint := "log in again, or check the user of this context (" + configHint + ")"
	if program, missing := strings.CutSuffix(strings.TrimPrefix(why, "executable "), " not found"); missing {
		why = fmt.Sprintf("the credential plugin %q is not installed, or not in PATH", program)
		hint = "install it, or check the user of this context (" + configHint + ")"
		if _, installHint, _ := strings.Cut(advice, pluginDocs); strings.TrimSpace(installHint) != "" {
			hint += ": " + installHint // from the kubeconfig
		}
	}
	return NewUserError(KindCredentials, err, fmt.Sprintf("cannot get credentials for %s: %s", serverOf(failed), why), hint)
}

const (
	// parseDetails begins the part of an error that shows the type which client-go could not decode.
	parseDetails = "; json parse error"
	// pluginDocs ends client-go's own advice about a plugin that is not found; the kubeconfig's installHint follows.
	pluginDocs = "#client-go-credential-plugins"
)
