package app

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// Version is the version of this program.
const Version = "0.1.0"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(a.env.Stdout, "ikigai %s %s/%s\n", Version, runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
