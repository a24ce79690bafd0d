# The library, the Python module and packages.
lib: deps $(TRAINED) $(filter all programs,$(MAKECMDGOALS:deb=all))  ## libberth.so, the engine as a library, into _output/lib, and berth.h into _output/include
	+@$(BUILD_WITH) $(OUT)/lib/libberth.so.1
	@install -d $(OUT)/lib/pkgconfig $(OUT)/include && ln -sfn libberth.so.1 $(OUT)/lib/libberth.so
	@install -m 644 pkg/capi/berth.h $(OUT)/include/berth.h
	@sed 's|@VERSION@|$(shell sed -e s/^v// hack/version)|; s|@PREFIX@|$(PREFIX)|' pkg/capi/berth.pc.in >$(OUT)/lib/pkgconfig/berth.pc

python: lib  ## the Python module berth over it, into _output/python (PYTHONPATH=_output/python)
	@hack/install-deps.sh python
	@rm -rf $(OUT)/python && install -d $(OUT)/python/berth
	@install -m 644 pkg/python/berth/*.py pkg/python/berth/py.typed $(OUT)/python/berth
	@strip -g -o $(OUT)/python/berth/libberth.so.1 $(OUT)/lib/libberth.so.1

wheel: python  ## a wheel of the Python module, in _output/package; it installs without network
	@hack/package/wheel.py $(OUT)

deb: all python  ## Debian packages of the programs and of the library, in _output/package
	@hack/install-deps.sh package
	+@$(BUILD_WITH) $(BIN)/berth
	@hack/package/library-debs.sh $(OUT)
	@hack/package/deb.sh $(OUT)

image: all  ## an OCI image of kube-scheduler, from scratch, in _output/image
	@hack/install-deps.sh package
	@hack/package/image.py $(OUT)
