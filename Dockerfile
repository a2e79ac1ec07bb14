# The course in JupyterLab: on a laptop, or as the image that a JupyterHub starts for each learner.
#
#   docker build --tag transformers-cell-by-cell .
#   mkdir -p work
#   docker run --rm --publish 8888:8888 --volume "$PWD/work:/work" transformers-cell-by-cell
#
# For the small CPU build of PyTorch: --build-arg TORCH_INDEX=ADDRESS, with the address that pytorch.org shows.
FROM python:3.12-slim
ARG TORCH_INDEX=
ENV PIP_NO_CACHE_DIR=1
RUN apt-get update && apt-get install --yes --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
COPY . /course
WORKDIR /course
RUN TORCH_INDEX=$TORCH_INDEX python environment/install.py grading && pip install "jupyterhub>=5,<6"
# The course is installed editable, which does not switch the start page on by itself. A hub's learners want it, too.
RUN install -D --target-directory /usr/local/etc/jupyter/jupyter_server_config.d grader/cellcheck/lab/config/*
RUN useradd --create-home --uid 1000 jovyan && install --directory --owner jovyan /work
USER jovyan
WORKDIR /work
EXPOSE 8888
# A hub starts jupyterhub-singleuser in place of this.
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--LabApp.default_url=/course"]
