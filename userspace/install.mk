# SPDX-License-Identifier: GPL-2.0
# The folders that a user names for install and uninstall. A blank in one would make two names of it, and uninstall would
# remove what has the first; a relative DESTDIR would be another folder in each Makefile.
blank := $(subst x,,x x)
$(foreach name,DESTDIR PREFIX OUT ZSH_FUNCTIONS SYSTEMD_DIR UDEV_DIR HWDB_DIR INITRAMFS_DIR TEXTFILE_DIR PLUGINS,\
	$(if $(filter command environment,$(firstword $(origin $(name)))),$(if $(findstring $(blank),$($(name))),\
		$(error $(name)='$($(name))': has a blank; name a folder without one))))
override DESTDIR := $(if $(DESTDIR),$(abspath $(DESTDIR)))
